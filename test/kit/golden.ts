import { readdirSync, readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import type { AutomationSpec } from '../../src/api/automation.ts'
import type { StepOutcome } from '../../src/api/automation-firing.ts'
import type { PlanContent } from '../../src/api/automation-graph-plan.ts'
import type { AutomationProgramSpec } from '../../src/api/automation-program.ts'
import type { GraphDocument } from '../../src/api/graph-document.ts'
import { compile } from '../../src/graph/compile.ts'
import { digestBytes, digestJson } from '../../src/lib/digest.ts'
import type { ReadonlyJson } from '../../src/lib/json.ts'
import type { DeepReadonly } from '../../src/lib/readonly.ts'
import { version } from '../../src/lib/version.ts'
import { programFor } from '../../src/plan/managed-spec.ts'
import { planGraph } from '../../src/plan/plan.ts'
import { advance } from '../../src/program/advance.ts'
import { programOfAgent } from '../../src/program/agent-target.ts'
import type { AdvanceInput, ObservedSession, ParseResult } from '../../src/program/input.ts'
import type { StepReason } from '../../src/program/reasons.ts'
import type { SchemaValidator } from '../../src/runtime/schema-validator.ts'

/**
 * What a release made of some graphs and of their firings, kept in `test/golden/<release>`. The next releases find such
 * programs and such half-done firings in clusters, and have to go on with them to the same end.
 */

/** What happens to a firing between two passes. `crash`: what the last one decided was done, and is not recorded. */
type Happening =
  | 'crash'
  | { readonly cancel: string }
  | { readonly refusal: StepReason }
  | { readonly step: string; readonly deleted: true }
  | ({ readonly step: string; readonly output?: string; readonly filler?: number } & Omit<
      ObservedSession,
      'name' | 'output'
    >)

/** A graph and its firings, as told in `test/golden/stories`. */
export interface Tale {
  readonly graph: string
  readonly document: GraphDocument
  readonly firings: readonly {
    readonly title: string
    readonly entry: string
    readonly event?: ReadonlyJson
    readonly happens: readonly Happening[]
  }[]
}

/** Everything that one call of `advance` was given beside program, entry, event and UID, as JSON. */
export interface SeenPass extends Pick<AdvanceInput, 'recorded' | 'refusal' | 'cancelled'> {
  readonly sessions: Readonly<Record<string, ObservedSession>>
  readonly gone: readonly string[]
  readonly parsed: Readonly<Record<string, ParseResult>>
  readonly contents: Readonly<Record<string, string>>
  readonly now: string
}

export interface GoldenFiring {
  readonly title: string
  readonly entry: string
  readonly event?: ReadonlyJson
  readonly passes: readonly { readonly seen: SeenPass; readonly answer: unknown }[]
}

/** The record of one graph. */
export interface Golden {
  readonly graph: string
  readonly document: GraphDocument
  readonly plan: PlanContent
  /** Absent where the graph is one agent. */
  readonly program?: AutomationProgramSpec
  readonly firings: readonly GoldenFiring[]
}

const root = new URL('../golden/', import.meta.url)
const began = new Date('2026-11-30T12:00:00Z')
const firingUid = '6f1f7c9e-0000-4000-8000-000000000001'

/** Folder of the release that is being made, relative to the repository. */
export const currentFolder = `test/golden/${version}`

/** Releases of which there are records. */
export function recordedReleases(): string[] {
  const entries = readdirSync(root, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory() && entry.name !== 'stories').map(({ name }) => name)
}

export function tales(): Tale[] {
  const folder = new URL('stories/', root)
  return readdirSync(folder).map((file) => load(readFileSync(new URL(file, folder), 'utf8')) as Tale)
}

export function recordsOf(release: string): Golden[] {
  const folder = new URL(`${release}/`, root)
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Golden)
}

/** The record as it is kept in a file. */
export function render(golden: Golden): string {
  return `${JSON.stringify(golden, null, 2)}\n`
}

/** What today's code makes of a graph and its firings. */
export async function recordOf(tale: Tale, schemas: SchemaValidator): Promise<Golden> {
  const { graph, document } = tale
  const compiled = compile(document, { now: began })
  if (compiled.kind === 'rejected')
    throw new Error(`${graph}: ${compiled.errors.map(({ detail }) => detail).join('; ')}`)
  const plan = planGraph(compiled, worldOf(graph, compiled.agents))
  const program = programFor(graph, compiled, plan.pins)?.spec
  const golden = { graph, document, plan, ...(program !== undefined && { program }) }
  const firings: GoldenFiring[] = []
  for (const { happens, ...firing } of tale.firings) {
    const passes = await play(golden, firing, happens, schemas)
    firings.push({ ...firing, passes })
  }
  return { ...golden, firings }
}

function worldOf(name: string, agents: readonly string[]) {
  return {
    graph: { name, uid: `uid-of-graph-${name}`, namespace: 'default' },
    revision: 1,
    environment: { uid: 'uid-of-environment' },
    serviceAccount: { uid: 'uid-of-service-account' },
    agents: Object.fromEntries(
      agents.map((agent) => {
        const latestVersion = { name: `${agent}-v1`, number: 1, digest: digestJson(agent), uid: `uid-of-${agent}-v1` }
        return [agent, { uid: `uid-of-${agent}`, latestVersion }]
      }),
    ),
  }
}

/** The program that a firing of the graph runs: the stored one, or that of its agent. */
export function programOf({
  plan,
  program,
}: Pick<Golden, 'plan' | 'program'>): DeepReadonly<AutomationProgramSpec['program']> {
  if (program !== undefined) return program.program
  const { target, triggers } = plan.automation as unknown as AutomationSpec
  if (target.agent === undefined) throw new Error(`${plan.graph} has neither a program nor an agent`)
  return programOfAgent(target.agent, triggers)
}

/** One call of `advance` as it was recorded. */
export function inputOf(
  program: AdvanceInput['program'],
  { entry, event }: Pick<GoldenFiring, 'entry' | 'event'>,
  seen: SeenPass,
): AdvanceInput {
  return {
    program,
    entry,
    event,
    firingUid,
    ...seen,
    sessions: new Map(Object.entries(seen.sessions)),
    gone: new Set(seen.gone),
    parsed: new Map(Object.entries(seen.parsed)),
    contents: new Map(Object.entries(seen.contents)),
    now: new Date(seen.now),
  }
}

/** An answer as JSON: what is decided, without the words that people read. Texts to store are told by their digests. */
export function told(answer: ReturnType<typeof advance>): unknown {
  const withoutWords = (key: string, value: unknown) => (key === 'message' ? undefined : value)
  return JSON.parse(JSON.stringify({ ...answer, put: [...answer.put.keys()] }, withoutWords))
}

type Firing = Pick<GoldenFiring, 'title' | 'entry' | 'event'>

/** Plays a firing from its admission to its result, or until nothing more happens. */
async function play(
  golden: Omit<Golden, 'firings'>,
  firing: Firing,
  happens: readonly Happening[],
  schemas: SchemaValidator,
) {
  const program = programOf(golden)
  const passes: { seen: SeenPass; answer: unknown }[] = []
  const store = new Map<string, string>()
  const world = new PlayedFiring(store)
  for (const happening of [undefined, ...happens]) {
    world.meet(happening)
    for (let settles = false; !settles; ) {
      const seen = structuredClone(world.seen())
      const answer = advance(inputOf(program, firing, seen))
      passes.push({ seen, answer: told(answer) })
      settles = answer.load.length + answer.parse.length + answer.unseen.length === 0
      if (settles) world.carryOut(answer)
      for (const digest of answer.load) world.contents[digest] = store.get(digest) ?? ''
      for (const step of answer.unseen) world.gone.push(step)
      for (const { step, text, schema } of answer.parse) world.parsed[step] = await schemas.validate(text, schema)
    }
  }
  return passes
}

class PlayedFiring {
  contents: Record<string, string> = {}
  parsed: Record<string, ParseResult> = {}
  gone: string[] = []
  readonly #store: Map<string, string>
  readonly #sessions: Record<string, ObservedSession> = {}
  #recorded: Record<string, StepOutcome> = {}
  /** What was recorded before the last pass. */
  #before: Record<string, StepOutcome> = {}
  #cancelled: string | undefined
  #refusal: AdvanceInput['refusal']
  #time = began.getTime()

  constructor(store: Map<string, string>) {
    this.#store = store
  }

  meet(happening: Happening | undefined): void {
    this.#time += 1000
    this.contents = {}
    this.parsed = {}
    if (happening === undefined) return
    if (happening === 'crash') this.#recorded = this.#before
    else if ('cancel' in happening) this.#cancelled = happening.cancel
    else if ('refusal' in happening) this.#refusal = { reason: happening.refusal, message: 'it is gone' }
    else if ('deleted' in happening) delete this.#sessions[happening.step]
    else this.#observe(happening)
  }

  #observe({ step, output, filler, ...rest }: Extract<Happening, { phase?: unknown }>): void {
    const name = this.#sessions[step]?.name ?? this.#recorded[step]?.session
    if (name === undefined) throw new Error(`${step} has no Session`)
    const text = filler === undefined ? output : output?.replace('FILLER', 'x'.repeat(filler))
    this.#sessions[step] = { name, ...rest, ...(text !== undefined && { output: this.#contentOf(text) }) }
  }

  #contentOf(text: string): NonNullable<ObservedSession['output']> {
    const [digest, size] = [digestBytes(text), Buffer.byteLength(text)]
    this.#store.set(digest, text)
    return size > 8192 ? { digest, size } : { inline: text, digest, size }
  }

  seen(): SeenPass {
    return {
      recorded: this.#recorded,
      sessions: this.#sessions,
      gone: this.gone,
      parsed: this.parsed,
      contents: this.contents,
      ...(this.#cancelled !== undefined && { cancelled: this.#cancelled }),
      ...(this.#refusal !== undefined && { refusal: this.#refusal }),
      now: new Date(this.#time).toISOString(),
    }
  }

  carryOut(answer: ReturnType<typeof advance>): void {
    for (const [digest, text] of answer.put) this.#store.set(digest, text)
    for (const { step, name } of answer.sessions) this.#sessions[step] ??= { name }
    this.#before = this.#recorded
    this.#recorded = structuredClone(answer.outcomes) as Record<string, StepOutcome>
  }
}
