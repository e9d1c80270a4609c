import { type AutomationGraph, automationGraph, type GraphError } from '../api/automation-graph.ts'
import { type AutomationGraphPlan, automationGraphPlan } from '../api/automation-graph-plan.ts'
import { fieldManagers } from '../api/labels.ts'
import { isInvalid } from '../kube/error.ts'
import { whoAmI } from '../kube/identity.ts'
import { type Cluster, unknownName, withCluster } from './cluster.ts'
import { cannotAsk, type ExitCode, exitCodes, type Io, refusal } from './io.ts'
import { type GlobalOptions, placeOptions } from './options.ts'
import { print } from './output.ts'
import { renderContent } from './plan-text.ts'

/** How long the operator may take to plan what was applied a moment ago. */
const patienceMillis = 15_000
const pauseMillis = 250
/** So many errors of a graph are told in a refusal. */
const maxListed = 3

/** `approve plan/NAME`: approves exactly the plan that is shown. A graph's name means its pending plan. */
export async function approveCommand(reference: string, options: GlobalOptions, io: Io): Promise<ExitCode> {
  return withCluster(options, async (cluster) => {
    const plan = await settledPlan(reference, cluster, io)
    const before = plan.spec.approval
    if (before === undefined) checkApprovable(plan)
    const approved = before === undefined ? await approve(plan, cluster) : plan
    print(io, options, approvalData(approved), () => renderApproval(approved, before !== undefined, io, options))
    return exitCodes.ok
  })
}

/** The plan that is meant, once the operator has said where it stands. */
export async function settledPlan(reference: string, cluster: Cluster, io: Io): Promise<AutomationGraphPlan> {
  const deadline = io.clock.monotonic() + patienceMillis
  for (;;) {
    const found = await findPlan(reference, cluster)
    if ('plan' in found && found.plan.status?.phase !== undefined) return found.plan
    const reason = 'plan' in found ? `the operator has not judged the plan ${found.plan.metadata.name} yet` : found.wait
    if (io.clock.monotonic() >= deadline) throw cannotAsk('not_planned', `${reason}; is the operator running?`)
    await io.clock.sleep(pauseMillis, io.signal)
  }
}

type Found = { readonly plan: AutomationGraphPlan } | { readonly wait: string }

async function findPlan(reference: string, cluster: Cluster): Promise<Found> {
  const { client, namespace } = cluster
  const [, kind = '', name = ''] = /^(?:([^/]+)\/)?([^/]+)$/.exec(reference) ?? []
  if (name === '') throw cannotAsk('usage', `${reference} is no name: write plan/NAME, or the name of a graph`)
  const plan = kind === 'graph' ? undefined : await client.find(automationGraphPlan, { name, namespace })
  const graph = kind !== '' && plan !== undefined ? undefined : await client.find(automationGraph, { name, namespace })
  if (graph !== undefined) return planOfGraph(graph, cluster)
  if (plan !== undefined) return { plan }
  const [graphs, plans] = await Promise.all([
    client.list(automationGraph, { namespace }),
    client.list(automationGraphPlan, { namespace }),
  ])
  const names = [...graphs.items, ...plans.items].map(({ metadata }) => metadata.name)
  throw cannotAsk('not_found', unknownName('graph or plan', name, namespace, names))
}

/** The plan of what the graph says now. */
async function planOfGraph({ metadata, status }: AutomationGraph, { client, namespace }: Cluster): Promise<Found> {
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    return { wait: `the operator has not planned the current revision of ${metadata.name} yet` }
  }
  const errors = status?.errors ?? []
  if (errors.length > 0) {
    throw refusal('rejected', `the graph ${metadata.name} has errors and no plan; correct it: ${listed(errors)}`)
  }
  const plan =
    status?.plan === undefined ? undefined : await client.find(automationGraphPlan, { name: status.plan, namespace })
  return plan === undefined ? { wait: `the graph ${metadata.name} has no plan yet` } : { plan }
}

/** The first errors, and where to find the others: it is one line. */
function listed(errors: readonly GraphError[]): string {
  const shown = errors.slice(0, maxListed).map(({ code, detail }) => `${code}: ${detail}`)
  const others = errors.length - shown.length
  return [...shown, ...(others > 0 ? [`and ${others} more, as graphwright plan -f FILE shows them all`] : [])].join(
    '; ',
  )
}

/** Says why a plan cannot be approved, and what to do. */
export function checkApprovable({ metadata, spec, status }: AutomationGraphPlan): void {
  const { blockers, graph } = spec.content
  const why = status?.message === undefined ? '' : ` (${status.message})`
  if (blockers.length > 0) {
    const listed = blockers.map(({ detail }) => detail).join('; ')
    throw refusal('plan_blocked', `plan ${metadata.name} is blocked; resolve this, which makes a new plan: ${listed}`)
  }
  if (status?.phase === 'Stale') {
    throw refusal(
      'plan_stale',
      `plan ${metadata.name} is stale, what it was made for has changed${why}; approve the present plan by approving ${graph}`,
    )
  }
  if (status?.phase === 'Failed') {
    throw refusal('plan_failed', `plan ${metadata.name} has failed${why}; change the graph to get another plan`)
  }
}

async function approve(plan: AutomationGraphPlan, cluster: Cluster): Promise<AutomationGraphPlan> {
  const { client, namespace } = cluster
  const { apiVersion, kind, metadata, spec } = plan
  const ref = {
    apiVersion,
    kind,
    namespace,
    name: metadata.name,
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
  }
  const approval = { digest: spec.content.digest, by: await whoAmI(client) }
  try {
    const approved = await client.mergePatch(ref, { spec: { approval } }, { fieldManager: fieldManagers.cli })
    return approved as AutomationGraphPlan
  } catch (error) {
    if (!isInvalid(error)) throw error
    const now = await client.get(automationGraphPlan, { name: metadata.name, namespace })
    if (now.spec.approval !== undefined) return now
    throw refusal('refused', error.message)
  }
}

function approvalData({ metadata, spec }: AutomationGraphPlan): object {
  const { graph, revision, digest, dispositions } = spec.content
  return { kind: 'approved', plan: metadata.name, graph, revision, digest, by: spec.approval?.by, dispositions }
}

function renderApproval(plan: AutomationGraphPlan, wasBefore: boolean, io: Io, options: GlobalOptions): string {
  const { metadata, spec } = plan
  const place = placeOptions(options)
  const { content, approval } = spec
  const verb = wasBefore ? 'was already approved' : 'approved'
  return [
    renderContent(content),
    '',
    `Plan ${metadata.name} of graph ${content.graph} ${verb} by ${approval?.by}.`,
    `Next: kubectl${place} wait agraph/${content.graph} --for=condition=Applied, then ${io.invocation}${place} run ${content.graph}`,
  ].join('\n')
}
