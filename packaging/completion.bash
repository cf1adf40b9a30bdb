# SPDX-License-Identifier: MIT
# Completion of bash for the tools and demos of Pumice. The options are those that --help of the
# command lists, at the start of lines.

_pumice() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} nodes

	COMPREPLY=()
	case $before in
	-d | --device)
		mapfile -t nodes < <(compgen -G '/dev/dri/pumice-*')
		mapfile -t COMPREPLY < <(compgen -W "drm inproc ${nodes[*]/#/drm:}" -- "$word")
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
			sed -nE 's/^(    |  -[a-zA-Z])((, |  )(--[a-z0-9-]+))?( .*)?$/\1 \4/p')" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
# bash-completion reads this file by the name of the program that it completes.
complete -o filenames -F _pumice "${BASH_SOURCE[0]##*/}"
