# SPDX-License-Identifier: MIT
# Completion of bash for the tools and demos of Pumice. The long options are those that --help
# of the command lists.

_pumice() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	case $before in
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -W "drm inproc $(ls /dev/dri/pumice-* 2>/dev/null |
			sed 's/^/drm:/')" -- "$word")
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
			grep -oE -- '(^|[[:space:],])--?[a-zA-Z][a-z-]*' | tr -d ' ,' | sort -u)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _pumice pumice-as
complete -o filenames -F _pumice pumice-dis
complete -o filenames -F _pumice pumice-decode
complete -o filenames -F _pumice pumice-dump
complete -o filenames -F _pumice pumice-frame
complete -o filenames -F _pumice pumice-info
complete -o filenames -F _pumice pumice-run
complete -o filenames -F _pumice pumice-top
complete -o filenames -F _pumice pumice-trace
