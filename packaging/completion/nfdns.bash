# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for nfdns(8)

_nfdns()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local commands="check status explain rules table cache metrics doctor log replay reload join leave" command= i choices=

	case $previous in
	-c | -i | -o | -k | --key | --kubeconfig | -w | --write | -a | --against | -r | --report)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-c) ((i++)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	case $command,$((COMP_CWORD - i)) in
	,*) choices="-c --help $commands" ;;
	explain,*)
		choices="--uid --gid --client --nameserver --proto --at --edns
			--configured --brief --all --json --help"
		case $previous in
		--uid) choices=$(compgen -u) ;;
		--gid) choices=$(compgen -g) ;;
		--proto) choices="udp tcp" ;;
		esac
		;;
	rules,1) choices="print verify absent sweep --help" ;;
	table,1) choices="compile list get diff addresses --help" ;;
	table,*) choices="-i -o --running --json --help" ;;
	cache,1) choices="stats list get flush --json --help" ;;
	cache,*) choices="--json --tree --all --help" ;;
	log,*)
		choices="pcap verify --follow --name --user --rule --verdict --since --format --json --key --help"
		if [[ $word != -* ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		;;
	check,*) choices="--strict --defaults --help" ;;
	metrics,*) choices="--openmetrics --help" ;;
	doctor,*) choices="--json --report --help" ;;
	replay,*)
		choices="--summary --json --write --against --uid --gid --help"
		if [[ $word != -* ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		;;
	reload,*) choices="--force --help" ;;
	status,*) choices="--json --help" ;;
	join,*)
		choices="--kubeconfig --namespace --print-role --name --dry-run --yes
			--force --no-start --wait --help"
		if [[ $word != -* ]]; then
			compopt -o filenames
			mapfile -t COMPREPLY < <(compgen -d -- "$word")
			return
		fi
		;;
	leave,*) choices="--dry-run --yes --no-stop --help" ;;
	*) choices="--help" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}

complete -F _nfdns nfdns
