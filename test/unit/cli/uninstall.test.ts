import { describe, expect, it } from 'vitest'
import { renderReport, reportOf } from '../../../src/cli/uninstall.ts'
import type { InstalledManager, Survey } from '../../../src/cli/uninstall-survey.ts'
import { type Job, jobType } from '../../../src/kube/core-types.ts'
import type { KubeObject, ObjectMeta } from '../../../src/lib/object.ts'
import { aFiring, aGraph, anEnvironment, aSession } from '../../kit/builders.ts'

const nothing: Survey = {
  managers: [],
  objects: [],
  jobs: [],
  workspaces: [],
  remains: [],
  shared: [],
  isWholeCluster: true,
  unread: [],
}
const manager: InstalledManager = {
  namespace: 'graphwright-system',
  isReady: true,
  release: 'graphwright',
  namespaces: [],
}

function object(kind: string, metadata: ObjectMeta): KubeObject {
  return { apiVersion: 'v1', kind, metadata }
}

function commands(survey: Partial<Survey>): string[] {
  return reportOf({ ...nothing, ...survey }).steps.map(({ command }) => command)
}

function codes(survey: Partial<Survey>): string[] {
  return reportOf({ ...nothing, ...survey }).findings.map(({ code, objects }) => `${code} ${objects.length}`)
}

const helm = { 'meta.helm.sh/release-name': 'graphwright', 'meta.helm.sh/release-namespace': 'graphwright-system' }
const held = { namespace: 'team-a', finalizers: ['example.com/other', 'graphwright.dev/settle'] }
const running = aFiring({ metadata: held, status: { phase: 'Running' } })
const definition = object('CustomResourceDefinition', { name: 'runs.graphwright.dev' })

describe('uninstall --check', () => {
  it('is clean where nothing is found', () => {
    const report = reportOf(nothing)
    expect(report).toMatchObject({ clean: true, findings: [], steps: [] })
    expect(renderReport(report)).toBe('Nothing of Graphwright is left here.')
  })

  it('is not clean where something could not be read', () => {
    const unread = [{ resource: 'jobs.batch', namespace: undefined, message: 'jobs.batch is forbidden' }]
    const report = reportOf({ ...nothing, unread })
    expect(report.clean).toBe(false)
    expect(renderReport(report)).toContain('jobs.batch in the whole cluster: jobs.batch is forbidden')
  })

  it('is not clean while a manager is installed', () => {
    expect(reportOf({ ...nothing, managers: [manager] }).clean).toBe(false)
  })

  it('tells firings under way, with their phase, from settled ones that only hold on', () => {
    const settled = aFiring({ name: 'old', metadata: held, status: { phase: 'Succeeded' } })
    const survey = { objects: [running, settled] }
    expect(codes(survey)).toEqual(['firings_under_way 1', 'finalizers 2', 'objects 2'])
    expect(renderReport(reportOf({ ...nothing, ...survey }))).toContain(
      'AutomationFiring team-a/triage-manual-1 (Running)',
    )
  })

  it('counts Jobs that run, and not those that have ended', () => {
    const job = (name: string, conditions: NonNullable<Job['status']>['conditions'] = []): Job => ({
      apiVersion: jobType.apiVersion,
      kind: jobType.kind,
      metadata: { name, namespace: 'team-a' },
      spec: {} as Job['spec'],
      status: { conditions },
    })
    const ended = job('b', [{ type: 'Failed', status: 'True' }])
    const ending = job('c', [{ type: 'FailureTarget', status: 'True' }])
    expect(codes({ jobs: [job('a'), ended, ending] })).toEqual(['jobs_running 2', 'jobs_ended 1'])
    expect(commands({ jobs: [ended] })).toEqual(['kubectl delete jobs -l graphwright.dev/run --all-namespaces'])
    expect(commands({ jobs: [ended], isWholeCluster: false })).toEqual([
      'kubectl delete jobs -l graphwright.dev/run -n team-a',
    ])
  })

  it('deletes objects while the manager is there, then the operator, then the rest', () => {
    const survey = {
      managers: [manager],
      objects: [running, aGraph()],
      workspaces: [object('ServiceAccount', { name: 'graphwright-runner', namespace: 'team-a' })],
      remains: [object('PersistentVolumeClaim', { name: 'graphwright-gateway-data', namespace: 'graphwright-system' })],
      shared: [object('ClusterRole', { name: 'graphwright-view', annotations: helm }), definition],
    }
    expect(commands(survey)).toEqual([
      'kubectl delete automationgraphs.graphwright.dev,automations.graphwright.dev,automationfirings.graphwright.dev,' +
        'environments.graphwright.dev,agents.graphwright.dev --all --all-namespaces',
      'helm uninstall graphwright --namespace graphwright-system --wait',
      'kubectl -n team-a delete serviceaccount,networkpolicy graphwright-runner --ignore-not-found',
      'kubectl delete customresourcedefinitions runs.graphwright.dev',
      'kubectl -n graphwright-system delete persistentvolumeclaim/graphwright-gateway-data',
    ])
  })

  it('takes its own finalizer off where no manager does, and nobody else’s', () => {
    const [first, second] = commands({ managers: [{ ...manager, isReady: false }], objects: [running] })
    expect(first).toMatch(/--all --all-namespaces --wait=false$/)
    expect(second).toBe(
      `kubectl -n team-a patch automationfiring/triage-manual-1 --type json -p '[` +
        `{"op":"test","path":"/metadata/finalizers/1","value":"graphwright.dev/settle"},` +
        `{"op":"remove","path":"/metadata/finalizers/1"}]'`,
    )
  })

  it('deletes what the operator made only where its owner is gone', () => {
    const owner = { apiVersion: 'x', kind: 'AutomationFiring', name: 'f', uid: running.metadata.uid ?? '' }
    const owned = aSession({ metadata: { ownerReferences: [owner] } })
    const orphan = aSession({ metadata: { ownerReferences: [{ ...owner, uid: 'gone' }] } })
    expect(commands({ objects: [running, owned] }).filter((command) => command.includes('sessions'))).toEqual([])
    expect(commands({ objects: [running, orphan] }).filter((command) => command.includes('sessions'))).toHaveLength(1)
  })

  it('leaves alone what other operators need, where this one serves some namespaces only', () => {
    const survey = {
      managers: [{ ...manager, namespaces: ['team-a'] }],
      objects: [anEnvironment()],
      isWholeCluster: false,
    }
    expect(codes(survey)).toEqual(['objects 1'])
    expect(commands(survey)[0]).toMatch(/ --all -n default$/)
  })

  it('names policies and roles of another release, and of none', () => {
    const other = { ...helm, 'meta.helm.sh/release-name': 'graphwright-cluster' }
    const shared = [
      object('ClusterRole', { name: 'a', annotations: helm }),
      object('ClusterRole', { name: 'b', annotations: other }),
      object('ClusterRole', { name: 'c' }),
    ]
    const survey = { managers: [manager], shared }
    expect(codes(survey)).toEqual(['policies_and_roles 2'])
    expect(commands(survey).slice(1)).toEqual([
      'helm uninstall graphwright-cluster --namespace graphwright-system --wait',
      'kubectl delete validatingadmissionpolicybindings,validatingadmissionpolicies,clusterrolebindings,clusterroles,' +
        'roles,rolebindings -l app.kubernetes.io/name=graphwright --all-namespaces',
    ])
  })

  it.each(['x; rm -rf /', '$(reboot)', 'a b', "a'b", 'a\nb', '--all', '', '../x', 'A', 'a`b`'])(
    'puts nothing into a command that Helm cannot have written: %j',
    (text) => {
      const annotations = [
        { ...helm, 'meta.helm.sh/release-name': text },
        { ...helm, 'meta.helm.sh/release-namespace': text },
      ]
      const shared = annotations.map((own, index) => object('ClusterRole', { name: `r${index}`, annotations: own }))
      expect(codes({ shared })).toEqual(['policies_and_roles 2'])
      expect(commands({ shared })).toEqual([
        expect.stringMatching(/^kubectl delete validatingadmissionpolicybindings,/),
      ])
    },
  )

  it('shows ten objects of a kind of finding, and how many more there are', () => {
    const objects = Array.from({ length: 12 }, (_, index) => anEnvironment({ name: `e${index}` }))
    const text = renderReport(reportOf({ ...nothing, objects }))
    expect(text).toContain('Environment default/e9\n  and 2 more')
  })
})
