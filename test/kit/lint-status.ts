import type { Condition, KubeObject } from '../../src/lib/object.ts'

type WithStatus = KubeObject & {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number; phase?: string }
}

const camelCase = /^[A-Z][A-Za-z0-9]*$/
const seconds = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

/** What must not be in a message: it would change by itself, and wake the reconciler that wrote it. */
const unstable: readonly (readonly [string, RegExp])[] = [
  ['a time', /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\b1[6-9]\d{11}\b/],
  ['a UID', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/i],
  ['a digest', /sha256:[0-9a-f]{8}/],
  [
    'a counter',
    /\b(attempt|try|retry|retries|tries)\W{0,3}\d+|\b\d+(st|nd|rd|th)? (attempt|time|tries|retries|retry)/i,
  ],
  ['a resourceVersion', /resourceVersion\W{0,3}\d+/i],
  ['an address', /\b\d{1,3}(\.\d{1,3}){3}:\d+\b/],
]

/**
 * What is wrong with the status of an object of ours, one text each; empty for a good one. The rules are those of the
 * API conventions and of kstatus, and that a status must not change by itself.
 */
export function lintStatus(object: KubeObject): string[] {
  const { status, metadata } = object as WithStatus
  if (status === undefined) return []
  const conditions = status.conditions ?? []
  const generation = metadata.generation ?? 0
  // Nothing changes any more where something has ended: its message may quote what a program said.
  const hasEnded = conditions.some(({ type, status }) => type === 'Succeeded' && status !== 'Unknown')
  const forbidden = hasEnded ? [] : unstable
  return [
    ...lintGeneration(status.observedGeneration, generation, conditions),
    ...conditions.flatMap((condition) => lintCondition(condition, generation, forbidden)),
    ...lintList(conditions),
    ...lintSummary(conditions, status.phase),
  ].map((problem) => `${object.kind} ${metadata.name}: ${problem}`)
}

function lintGeneration(observed: number | undefined, generation: number, conditions: readonly Condition[]): string[] {
  const retrying = conditions.some(({ type }) => type === 'Reconciling')
  if (observed === undefined) return retrying ? [] : ['status.observedGeneration is missing']
  return observed <= generation ? [] : [`status.observedGeneration ${observed} is above generation ${generation}`]
}

function lintCondition(condition: Condition, generation: number, forbidden: typeof unstable): string[] {
  const { type, status, reason, message, lastTransitionTime, observedGeneration } = condition
  const problems: string[] = []
  if (!camelCase.test(type)) problems.push('type is not CamelCase')
  if (!['True', 'False', 'Unknown'].includes(status)) problems.push(`status is ${status}`)
  if (!camelCase.test(reason)) problems.push(`reason ${reason} is not CamelCase`)
  if (!seconds.test(lastTransitionTime)) problems.push(`lastTransitionTime ${lastTransitionTime} is not in seconds`)
  if (observedGeneration === undefined) problems.push('observedGeneration is missing')
  else if (observedGeneration > generation) problems.push(`observedGeneration ${observedGeneration} is from the future`)
  if (Buffer.byteLength(message) > 1024) problems.push('message is longer than 1 KiB')
  for (const [what, pattern] of forbidden)
    if (pattern.test(message)) problems.push(`message contains ${what}: ${message}`)
  return problems.map((problem) => `condition ${type}: ${problem}`)
}

function lintList(conditions: readonly Condition[]): string[] {
  const types = conditions.map(({ type }) => type)
  const problems: string[] = []
  if (new Set(types).size !== types.length) problems.push(`a condition type appears twice: ${types.join(', ')}`)
  if (types.some((type, index) => index > 0 && isSummary(type)))
    problems.push(`${types.join(', ')}: the summary is not first`)
  return problems
}

/** kstatus: `Reconciling` and `Stalled` are there only while true, exclude each other, and explain what is not ready. */
function lintSummary(conditions: readonly Condition[], phase: string | undefined): string[] {
  const of = (type: string) => conditions.find((condition) => condition.type === type)
  const [ready, stalled, reconciling] = [
    conditions.find(({ type }) => isSummary(type)),
    of('Stalled'),
    of('Reconciling'),
  ]
  if (ready === undefined) return ['there is neither a condition Ready nor a condition Succeeded']
  const problems: string[] = []
  for (const cause of [stalled, reconciling]) {
    if (cause === undefined) continue
    if (cause.status !== 'True') problems.push(`${cause.type} is ${cause.status}: it may only be there while true`)
    if (ready.status === 'True') problems.push(`${cause.type} contradicts ${ready.type}=True`)
  }
  if (stalled && reconciling) problems.push('Stalled and Reconciling exclude each other')
  if (stalled && ready.status !== 'False') problems.push(`Stalled needs ${ready.type}=False`)
  if (reconciling && ready.type === 'Succeeded' && ready.status !== 'Unknown') problems.push('ended and Reconciling')
  if (ready.type === 'Succeeded' && phase !== undefined && (phase === 'Succeeded') !== (ready.status === 'True')) {
    if (!['Applied'].includes(phase)) problems.push(`phase ${phase} contradicts Succeeded=${ready.status}`)
  }
  return problems
}

function isSummary(type: string): boolean {
  return type === 'Ready' || type === 'Succeeded'
}
