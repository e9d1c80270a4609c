import type { Content } from '../api/fields.ts'
import type { ProgramStep } from '../api/program.ts'
import { childName } from '../lib/names.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { RenderedTooLarge, render } from '../lib/template.ts'
import { InlineBudget } from './contents.ts'
import { runningOutcome } from './observe.ts'
import { failed, settled } from './outcomes.ts'
import type { Pass } from './pass.ts'
import { readinessOf } from './readiness.ts'
import { boundValues, type Failure, outputText, type Read } from './values.ts'
import type { SessionWanted } from './wanted.ts'

type Step = DeepReadonly<ProgramStep>

/**
 * Starts the agent steps that are ready, unless they are held. All of them are prepared first: where one fails, or needs a
 * text from the content store, none starts.
 */
export function startAgents(pass: Pass): void {
  const ready = pass.untouched.filter((step) => step.kind === 'agent' && readinessOf(pass, step) === 'ready')
  if (pass.input.held !== undefined) {
    pass.held.push(...ready.map(({ id }) => id))
    return
  }
  const prepared = ready.map((step) => ({ step, session: prepare(pass, step) }))
  for (const { step, session } of prepared) {
    if (session.kind === 'unloaded') pass.load.add(session.digest)
    if (session.kind === 'failed') fail(pass, step, session)
  }
  if (pass.hasFailed || pass.isBlocked) return
  for (const { session } of prepared) if (session.kind === 'read') start(pass, session.value)
}

function start(pass: Pass, session: SessionWanted): void {
  pass.sessions.push(session)
  pass.record(session.step, runningOutcome(session.name, pass.input.now.toISOString()))
}

function prepare(pass: Pass, step: Step): Read<SessionWanted> {
  const { refusal, firingUid } = pass.input
  if (refusal !== undefined) return { kind: 'failed', ...refusal }
  // A copy of the wanted texts goes to the store together with those of the outcomes.
  const budget = new InlineBudget(0, pass.budget.put)
  const message = messageOf(pass, step, budget)
  if (message.kind !== 'read') return message
  const inputs = boundValues(pass, step)
  if (inputs.kind !== 'read') return inputs
  const bindings = Object.entries(inputs.value).map(([field, value]) => [field, budget.keep(JSON.stringify(value))])
  const value: SessionWanted = {
    step: step.id,
    name: childName(firingUid, step.id, 0, 0),
    agent: step.agent ?? '',
    prompt: message.value.content,
    ...(bindings.length > 0 && { bindings: Object.fromEntries(bindings) as Record<string, Content> }),
    ...(step.timeoutSeconds !== undefined && { timeoutSeconds: step.timeoutSeconds }),
    missing: message.value.missing,
  }
  return { kind: 'read', value }
}

interface Message {
  readonly content: Content
  readonly missing: readonly string[]
}

/** With an `output` edge that output is the whole message, else the rendered prompt. */
function messageOf(pass: Pass, step: Step, budget: InlineBudget): Read<Message> {
  if (step.output !== undefined) return handOver(pass, step.output, budget)
  try {
    const { text, missing } = render(step.prompt ?? '', pass.input.event, { includeEvent: step.includeEvent })
    return { kind: 'read', value: { content: budget.keep(text), missing } }
  } catch (error) {
    if (!(error instanceof RenderedTooLarge)) throw error
    return {
      kind: 'failed',
      reason: error.code,
      message: `${error.message}; refer to fewer or smaller parts of the event`,
    }
  }
}

function handOver(pass: Pass, source: string, budget: InlineBudget): Read<Message> {
  const text = outputText(pass, source)
  if (text.kind === 'failed') return text
  const output = pass.outcomes.get(source)?.output
  if (text.kind === 'read') return { kind: 'read', value: { content: budget.keep(text.value), missing: [] } }
  // Its text is in the store already, under the same digest: there is no need to fetch it.
  return output === undefined ? text : { kind: 'read', value: { content: budget.copy(output), missing: [] } }
}

function fail(pass: Pass, step: Step, { reason, message }: Failure): void {
  pass.record(step.id, settled(undefined, failed(reason, message), pass.input.now))
}
