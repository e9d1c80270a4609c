import type { GraphError } from '../api/automation-graph.ts'
import type { PlanContent } from '../api/automation-graph-plan.ts'
import { policiesOf } from '../api/automation-policies.ts'
import type { CompiledGraph } from '../graph/compiled.ts'
import type { DeepReadonly } from '../lib/readonly.ts'
import { describeChanges } from '../plan/describe.ts'
import { describeTrigger } from '../schedule/describe.ts'
import { drawProgram } from './draw.ts'
import type { PlanResult } from './plan-result.ts'
import { policiesText } from './policies-text.ts'
import { indent, table } from './table.ts'

export interface PlanTextOptions {
  readonly unicode: boolean
  readonly invocation: string
  /** Options that lead to the cluster and namespace, as they were given. */
  readonly place: string
  readonly filename: string
}

type Planned = Extract<PlanResult, { readonly kind: 'planned' }>

/** Plans for people: each graph drawn, or everything that is wrong with it. */
export function renderPlans(results: readonly PlanResult[], options: PlanTextOptions): string {
  return results.map((result) => renderPlan(result, options)).join('\n\n')
}

function renderPlan(result: PlanResult, options: PlanTextOptions): string {
  if (result.kind === 'rejected') {
    const heading = `${result.graph}: rejected, ${count(result.errors.length, 'error')}`
    return [heading, '', ...renderFindings('error', result.errors), ...renderFindings('warning', result.warnings)].join(
      '\n',
    )
  }
  const { brought = [], compiled, content } = result
  return [
    `${result.graph}: planned, ${summary(compiled)}`,
    '',
    indent(drawing(compiled, options.unicode)),
    '',
    ...renderPolicies(compiled),
    ...renderFindings('warning', compiled.warnings),
    ...(content === undefined ? [nextSteps(result, options)] : [renderContent(content), ...renderBrought(brought)]),
  ].join('\n')
}

/** What the graph sets of how firings start and are kept; nothing where all of it has its default. */
function renderPolicies({ document }: CompiledGraph): string[] {
  const text = policiesText(policiesOf(document))
  return text === '' ? [] : [`Policies: ${text}`, '']
}

/** The plan is of the cluster as it is: what comes with the graph blocks nothing once both are applied. */
function renderBrought(brought: readonly string[]): string[] {
  return brought.length === 0
    ? []
    : ['', `In the file as well: ${brought.join(', ')}. Applied together, they block nothing.`]
}

function nextSteps({ graph, isAutomatic }: Planned, { filename, invocation, place }: PlanTextOptions): string {
  const apply = `Next: kubectl${place} apply --server-side -f ${filename}`
  const then = isAutomatic === true ? '; it approves its plans itself' : `, then ${invocation}${place} approve ${graph}`
  return `${apply}${then}. With --live this also says what applying would change.`
}

function summary({ target, triggers, agents }: CompiledGraph): string {
  const what = target.kind === 'agent' ? 'one agent' : count(target.program.steps.length, 'step')
  return `${what}, ${count(triggers.length, 'trigger')}, runs ${agents.length === 0 ? 'no agent' : agents.join(', ')}`
}

function drawing({ target, triggers }: CompiledGraph, unicode: boolean): string {
  if (target.kind === 'program') return drawProgram(target.program, triggers, unicode)
  const arrow = unicode ? '▶' : '->'
  return triggers
    .map((trigger) => `${trigger.id}  ${describeTrigger(trigger)} ${arrow} agent ${target.agent.name}`)
    .join('\n')
}

/** The findings, each with its place and what to change. */
function renderFindings(kind: 'error' | 'warning', findings: readonly GraphError[]): string[] {
  return findings.flatMap(({ code, detail, node, edge }) => {
    const where = edge === undefined ? node && `node ${node}` : `edge ${edge}`
    return [`  ${kind} ${code}${where ? ` (${where})` : ''}`, `    ${detail}`, '']
  })
}

/** What applying a plan does, and what stands in its way. */
export function renderContent(content: DeepReadonly<PlanContent>): string {
  const { dispositions, pins, blockers, requiredInputs, digest, revision } = content
  const rows = dispositions.map(({ action, kind, name, fields }) => [action, kind, name, fields?.join(', ') ?? ''])
  const parts = [
    `Changes: ${describeChanges(content)} (revision ${revision}, ${digest.slice(0, 19)})`,
    '',
    indent(table(['ACTION', 'KIND', 'NAME', 'FIELDS'], rows)),
  ]
  if (pins.length > 0) parts.push('', `Pinned: ${pins.map(({ version }) => version).join(', ')}`)
  if (blockers.length > 0) {
    parts.push('', 'Blocked until resolved:', ...blockers.map(({ code, detail }) => `  ${code}: ${detail}`))
  }
  if (requiredInputs.length > 0) {
    parts.push('', 'To be provided:', ...requiredInputs.map(({ kind, name, detail }) => `  ${kind} ${name}: ${detail}`))
  }
  return parts.join('\n')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
