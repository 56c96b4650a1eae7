# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for nfdnsd(8)

_nfdnsd()
{
	local word=${COMP_WORDS[COMP_CWORD]}

	case ${COMP_WORDS[COMP_CWORD-1]} in
	-c | --config)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "--config --test --help --version" -- "$word")
		;;
	esac
}

complete -F _nfdnsd nfdnsd
