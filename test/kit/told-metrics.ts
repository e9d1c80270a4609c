/** What a manager tells Prometheus, in its text format. */
export class ToldMetrics {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** True while a controller works, or has something to do now. */
  get isBusy(): boolean {
    return this.sum('workqueue_depth') + this.sum('controller_runtime_active_workers') > 0
  }

  /** Passes of a controller so far. */
  passes(controller: string): number {
    return this.sum('controller_runtime_reconcile_total', `controller="${controller}"`)
  }

  /** Sum of all series of a name whose labels contain the text; 0 where there is none. */
  sum(name: string, label = ''): number {
    const series = this.#text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))
    return [...series]
      .filter(([, labels = '']) => labels.includes(label))
      .reduce((sum, [, , value]) => sum + Number(value), 0)
  }
}
