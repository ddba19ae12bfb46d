# zsh_proposes.zsh FOLDER LINE PATTERN: an interactive zsh, which finds its functions in FOLDER, too, lists what it proposes
# after LINE; ends as soon as that has the PATTERN.
zmodload zsh/zpty
zpty shell zsh -f -i
# The word is put together by that shell: what is read first is the echo of what was typed.
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=10000; echo re''ady"
zpty -r -m shell said '*ready*'
zpty -w -n shell "$2"$'\t\t'
zpty -r -m shell said "*$3*"
