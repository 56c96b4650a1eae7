# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for nfdns(8).  tests/lint/test_manual compares what it offers with
# what the program takes.

# The words that may follow a command.
_nfdns_words()
{
	case $1 in
	rules) echo print verify absent sweep ;;
	table) echo list get ;;
	cache) echo stats list get flush ;;
	log) echo verify ;;
	esac
}

# The options of a command with its word, "log verify".
_nfdns_options()
{
	case $1 in
	"") echo --config --version ;;
	check*) echo --strict --json --defaults ;;
	"rules verify") echo --json ;;
	status*) echo --all --json ;;
	explain*) echo --uid --gid --from --in --nameserver --proto \
	    --reverse --search --configured --brief --all --json ;;
	ask*) echo --uid --gid --nameserver --reverse --json ;;
	"table "?*) echo --running --json ;;
	"cache flush") echo --json --tree --all ;;
	cache*) echo --json ;;
	metrics*) echo --openmetrics --http ;;
	top*) echo --delay --rounds --list --once --json ;;
	doctor*) echo --json ;;
	"log verify") ;;
	log*) echo --follow --name --user --rule --verdict --since --format ;;
	reload*) echo --force --json ;;
	join*) echo --kubeconfig --context --namespace --print-manifest --skip-allocated --name --dry-run --yes \
	    --force --no-start --wait ;;
	leave*) echo --dry-run --yes --no-stop ;;
	esac
	echo --help
}

# What may follow an option that has a value: "files" or words.
_nfdns_values()
{
	case $2 in
	-c | --config | --kubeconfig) echo files ;;
	-k) echo files ;;
	--list) echo names users rules decisions ;;
	--uid | --user) compgen -u ;;
	--gid) compgen -g ;;
	--proto) echo udp tcp ;;
	--verdict) echo answer nodata nxdomain refuse drop pass forward ;;
	--format) echo text json ;;
	--from | --in | --nameserver | --rule | --since | --name | --context | \
	    --namespace | --wait | --delay | --rounds) echo ;;
	*) return 1 ;;
	esac
}

_nfdns()
{
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local commands="check pause resume status top explain ask rules table cache metrics doctor log reload join leave"
	local command= sub= choices i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-c | --config) ((i++)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	if ((i + 1 < COMP_CWORD)) && [[ " $(_nfdns_words "$command") " = *" ${COMP_WORDS[i+1]} "* ]]; then
		sub=" ${COMP_WORDS[i+1]}"
	fi
	if choices=$(_nfdns_values "$command$sub" "$previous"); then
		:
	elif [[ $word = -* ]]; then
		choices=$(_nfdns_options "$command$sub")
	elif [[ -z $command ]]; then
		choices=$commands
	else
		choices=
		((COMP_CWORD == i + 1)) && choices=$(_nfdns_words "$command")
		[[ $command = @(log|join) ]] && choices+=" files"
	fi
	mapfile -t COMPREPLY < <(compgen -W "${choices/files/}" -- "$word")
	if [[ $choices = *files ]]; then
		compopt -o filenames
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -F _nfdns nfdns
