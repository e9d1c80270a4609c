/** Options that every command takes, before or after its name. */
export interface GlobalOptions {
  readonly namespace?: string
  readonly context?: string
  readonly kubeconfig?: string
  readonly output?: OutputFormat
  readonly json?: boolean
}

export const outputFormats = ['json', 'yaml'] as const
export type OutputFormat = (typeof outputFormats)[number]

/** The options that a command was given to find its cluster and namespace, for hints that work when they are pasted. */
export function placeOptions({ namespace, context, kubeconfig }: GlobalOptions): string {
  const given = [
    ['-n', namespace],
    ['--context', context],
    ['--kubeconfig', kubeconfig],
  ] as const
  return given.map(([option, value]) => (value === undefined ? '' : ` ${option} ${value}`)).join('')
}

/** The structured format that is asked for; undefined: text for people. */
export function formatOf(options: GlobalOptions): OutputFormat | undefined {
  return options.output ?? (options.json === true ? 'json' : undefined)
}
