# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for nfdns-feed(8)

_nfdns_feed()
{
	local word=${COMP_WORDS[COMP_CWORD]}

	if [[ ${COMP_WORDS[COMP_CWORD-1]} = -c ]]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -W "-c -d -t --help" -- "$word")
	fi
}

complete -F _nfdns_feed nfdns-feed
