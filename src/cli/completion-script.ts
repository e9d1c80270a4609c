export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * The scripts hold nothing of the commands: they ask the tool itself, so that they never have to be made anew. Where it
 * has no answer, the shell offers files.
 */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_graphwright() {
  COMPREPLY=()
  local word
  while IFS= read -r word; do
    [[ -n $word ]] && COMPREPLY+=("$word")
  done < <(graphwright __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _graphwright graphwright
`,
  zsh: `#compdef graphwright
_graphwright() {
  local -a candidates
  candidates=("\${(@f)$(graphwright __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=(\${candidates:#})
  if (( \${#candidates} )); then
    compadd -a candidates
  else
    _files
  fi
}
compdef _graphwright graphwright
`,
  fish: `function __graphwright_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  graphwright __complete -- $before[2..-1] "$current" 2>/dev/null
end
complete -c graphwright -f -a '(__graphwright_complete)'
complete -c graphwright -s f -l filename -r -F
complete -c graphwright -l kubeconfig -r -F
`,
}

/** What a shell reads to complete commands, options and names. */
export function completionScript(shell: Shell): string {
  return scripts[shell]
}

/** How each shell gets its script. */
export function completionHelp(invocation: string): string {
  return `
In the file that your shell starts with:
  bash   source <(${invocation} completion bash)
  zsh    source <(${invocation} completion zsh)
  fish   ${invocation} completion fish | source`
}
