# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for nfdnsd(8)

_nfdnsd()
{
	local word=${COMP_WORDS[COMP_CWORD]}

	if [[ ${COMP_WORDS[COMP_CWORD-1]} = -[cs] ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -W "-c -s -t --help" -- "$word")
	fi
}

complete -F _nfdnsd nfdnsd
