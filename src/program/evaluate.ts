import type { StepOutcome } from '../api/automation-firing.ts'
import type { Predicate } from '../api/graph-document.ts'
import type { ProgramStep } from '../api/program.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { failed, settled } from './outcomes.ts'
import type { Pass } from './pass.ts'
import { evaluateAll } from './predicates.ts'
import { readinessOf } from './readiness.ts'
import { subjectOf, textToParse } from './values.ts'

type Step = DeepReadonly<ProgramStep>

/**
 * Takes every step that needs no pod as far as it goes: skips what is not taken, evaluates what is ready. One sweep is
 * enough, because each step comes after its predecessors. Stops at the first failure.
 */
export function evaluateSteps(pass: Pass): void {
  for (const step of pass.untouched) {
    if (pass.hasFailed) return
    const readiness = readinessOf(pass, step)
    if (readiness === 'skipped') settle(pass, step, { kind: 'skipped' })
    if (readiness !== 'ready') continue
    if (step.kind === 'decision') decide(pass, step)
    if (step.kind === 'parse_json') parse(pass, step)
  }
}

function decide(pass: Pass, step: Step): void {
  const subject = subjectOf(pass, step)
  if (subject.kind === 'unloaded') pass.load.add(subject.digest)
  if (subject.kind === 'failed') settle(pass, step, failed(subject.reason, subject.message))
  if (subject.kind !== 'read') return
  const verdict = evaluateAll((step.predicates ?? []) as DeepReadonly<Predicate[]>, subject.value)
  if (verdict.kind === 'failed') settle(pass, step, failed(verdict.reason, verdict.message))
  else settle(pass, step, { kind: 'completed', arm: verdict.holds ? 'continue' : 'otherwise' })
}

function parse(pass: Pass, step: Step): void {
  const parsed = pass.input.parsed.get(step.id)
  if (parsed?.kind === 'invalid') settle(pass, step, failed(parsed.reason, parsed.message))
  if (parsed?.kind === 'valid') {
    const output = pass.budget.keep(parsed.text)
    pass.texts.set(output.digest, parsed.text)
    settle(pass, step, { kind: 'completed', output })
  }
  if (parsed !== undefined) return
  const text = textToParse(pass, step)
  if (text.kind === 'unloaded') pass.load.add(text.digest)
  if (text.kind === 'failed') settle(pass, step, failed(text.reason, text.message))
  if (text.kind === 'read') pass.parse.push({ step: step.id, text: text.value, schema: step.schema ?? {} })
}

function settle(pass: Pass, step: Step, outcome: StepOutcome): void {
  pass.record(step.id, settled(undefined, outcome, pass.input.now))
}
