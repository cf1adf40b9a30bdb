# SPDX-License-Identifier: MIT
# Completion of bash for pumice-qemu: its options, those of QEMU that --help lists, and the devices of
# -device.

_pumice_qemu() {
	local word=${COMP_WORDS[COMP_CWORD]} words=

	COMPREPLY=()
	if [[ ${COMP_WORDS[COMP_CWORD - 1]} =~ ^--?device$ ]]; then
		words=$("$1" -device help 2>/dev/null | sed -n 's/^name "\([^"]*\)".*/\1/p')
	elif [[ $word == -* ]]; then
		# QEMU's lines begin with the options: "-h or -help     display", "-fda/-fdb file".
		words="-h --help -V --version $("$1" --help 2>/dev/null |
			sed -nE 's/^(--?[a-zA-Z][^ ]*( or -[a-z]+)?).*/\1/p' | sed 's, or \|/, ,g')"
	fi
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _pumice_qemu pumice-qemu
