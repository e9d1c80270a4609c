import { describe, expect, it } from 'vitest'
import type { EnvironmentSpec } from '../../../../src/api/environment.ts'
import type { Container } from '../../../../src/kube/core-types.ts'
import { deepFreeze } from '../../../../src/lib/readonly.ts'
import {
  deadlineSeconds,
  environmentProblem,
  type JobInput,
  jobFor,
  jobName,
} from '../../../../src/reconcilers/run/job.ts'
import { contentDigestAnnotation } from '../../../../src/runtime/ownership.ts'
import { anAgentVersion, anEnvironment, aRun, aSession } from '../../../kit/builders.ts'
import { jobSettings } from '../../../kit/job-settings.ts'

function sessionIn(environment: Partial<EnvironmentSpec>, rest: Parameters<typeof aSession>[0] = {}) {
  const spec = { ...anEnvironment().spec, ...environment }
  return aSession({ ...rest, spec: { ...rest.spec, environment: { name: 'default', spec } } })
}

function job(given: Partial<JobInput> = {}) {
  const session = given.session ?? aSession()
  return jobFor(
    deepFreeze({
      run: aRun(),
      session,
      agentVersion: anAgentVersion(),
      incarnation: 0,
      deadlineSeconds: deadlineSeconds(session),
      settings: jobSettings,
      ...given,
    }) as JobInput,
  )
}

function podOf(environment: Partial<EnvironmentSpec> = {}) {
  return job({ session: sessionIn(environment) }).spec.template
}

function containers(template = podOf()): Record<string, Container> {
  const { initContainers = [], containers } = template.spec
  return Object.fromEntries([...initContainers, ...containers].map((container) => [container.name, container]))
}

const variable = (container: Container | undefined, name: string) =>
  container?.env?.find((one) => one.name === name)?.value

describe('the Job of an incarnation', () => {
  it('makes one pod, once, within its time, and is kept for a while', () => {
    const session = aSession({ spec: { timeoutSeconds: 60 } })
    expect(job({ session, deadlineSeconds: deadlineSeconds(session) }).spec).toMatchObject({
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: 60,
      ttlSecondsAfterFinished: 600,
      template: { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 100 } },
    })
    expect(job().spec).not.toHaveProperty('podFailurePolicy')
  })

  it('is the same for a manager of another release or with another CA, and another one for another Run', () => {
    const digestOf = ({ metadata }: ReturnType<typeof job>) => metadata.annotations?.[contentDigestAnnotation]
    const gateway = { ...jobSettings.gateway, caPem: 'another' }
    const other = job({ settings: { ...jobSettings, runnerImage: 'registry.example/graphwright:2', gateway } })
    expect(other.spec).not.toEqual(job().spec)
    expect(digestOf(other)).toBe(digestOf(job()))
    expect(digestOf(job({ incarnation: 1 }))).not.toBe(digestOf(job()))
    expect(digestOf(job({ run: aRun({ metadata: { uid: 'another' } }) }))).not.toBe(digestOf(job()))
  })

  it('has a name that depends on firing, step, item, attempt, run and incarnation alone', () => {
    const { metadata } = job()
    const longStep = 'a-step-with-a-name-of-sixty-three-characters-to-fill-a-whole-label'
    const other = { name: 'other', metadata: { uid: 'other' } }
    expect(jobName(aRun(other), aSession(other), 0)).toBe(metadata.name)
    const names = [
      metadata.name,
      jobName(aRun({ spec: { firing: { name: 'triage-manual-1', uid: 'another' } } }), aSession(), 0),
      jobName(aRun({ spec: { step: 'other' } }), aSession(), 0),
      jobName(aRun({ spec: { sequence: 1 } }), aSession(), 0),
      jobName(aRun(), aSession({ spec: { item: 1 } }), 0),
      jobName(aRun(), aSession({ spec: { attempt: 1 } }), 0),
      jobName(aRun(), aSession(), 1),
    ]
    expect(new Set(names).size).toBe(names.length)
    expect(jobName(aRun({ spec: { step: longStep } }), aSession(), 0).length).toBeLessThanOrEqual(63 - '-abcde'.length)
  })

  it('takes the smaller of the two deadlines', () => {
    expect(deadlineSeconds(sessionIn({ deadlineSeconds: 30 }, { spec: { timeoutSeconds: 60 } }))).toBe(30)
    expect(deadlineSeconds(sessionIn({ deadlineSeconds: 90 }, { spec: { timeoutSeconds: 60 } }))).toBe(60)
    expect(deadlineSeconds(sessionIn({ deadlineSeconds: 90 }))).toBe(90)
  })

  it('is found by its labels, and hands down no others of the Run', () => {
    const labels = { 'graphwright.dev/graph': 'triage', 'argocd.argoproj.io/instance': 'prod', team: 'ops' }
    const made = job({ run: aRun({ metadata: { labels } }) })
    const expected = {
      'app.kubernetes.io/managed-by': 'graphwright',
      'graphwright.dev/graph': 'triage',
      'graphwright.dev/firing': 'triage-manual-1',
      'graphwright.dev/session': 'triage-session',
      'graphwright.dev/run': 'triage-run',
      'graphwright.dev/step': 'triage',
    }
    expect(made.metadata.labels).toEqual(expected)
    expect(made.spec.template.metadata?.labels).toEqual({ ...expected, 'graphwright.dev/network': 'isolated' })
  })
})

describe('its pod', () => {
  it('starts the sidecar runner, then input, then the agent', () => {
    const { initContainers, containers: main } = podOf().spec
    expect(initContainers?.map(({ name, command, restartPolicy }) => ({ name, command, restartPolicy }))).toEqual([
      { name: 'runner', command: ['node', '/app/runner.cjs', 'serve'], restartPolicy: 'Always' },
      { name: 'input', command: ['node', '/app/runner.cjs', 'input'], restartPolicy: undefined },
    ])
    expect(main.map(({ name }) => name)).toEqual(['agent'])
  })

  it('gives the token to input and runner and never to the agent', () => {
    const template = podOf()
    const token = { name: 'token', mountPath: '/var/run/graphwright', readOnly: true }
    expect(containers(template).input?.volumeMounts).toContainEqual(token)
    expect(containers(template).runner?.volumeMounts).toContainEqual(token)
    expect(containers(template).agent?.volumeMounts?.map(({ name }) => name)).not.toContain('token')
    expect(template.spec.automountServiceAccountToken).toBe(false)
    expect(template.spec.serviceAccountName).toBe('graphwright-runner')
    expect(template.spec.volumes?.find(({ name }) => name === 'token')).toEqual({
      name: 'token',
      projected: {
        sources: [{ serviceAccountToken: { audience: 'graphwright', expirationSeconds: 3600, path: 'token' } }],
      },
    })
  })

  it('lets the agent write its output, its workspace and /tmp, and nothing else', () => {
    const mounts = containers().agent?.volumeMounts?.map(({ mountPath, readOnly }) => [mountPath, readOnly ?? false])
    expect(mounts).toEqual([
      ['/graphwright/input', true],
      ['/graphwright/output', false],
      ['/graphwright/workspace', false],
      ['/tmp', false],
    ])
    expect(containers().agent?.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
  })

  it('is restricted, with different users in the agent and beside it, which do not see each other', () => {
    const template = podOf()
    for (const { name, securityContext } of Object.values(containers(template))) {
      expect(securityContext, name).toMatchObject({
        runAsNonRoot: true,
        runAsUser: name === 'agent' ? 10001 : 65532,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      })
    }
    expect(template.spec.shareProcessNamespace).toBeUndefined()
  })

  it('when isolated knows the gateway by its hosts file, has no DNS, and probes what it must not reach', () => {
    const template = podOf({ isolationProbes: [{ host: 'fd00::1', port: 80 }] })
    expect(template.spec).toMatchObject({
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      hostAliases: [{ ip: '10.96.0.40', hostnames: ['graphwright-gateway.graphwright-system.svc'] }],
    })
    for (const name of ['input', 'runner']) {
      const container = containers(template)[name]
      expect(variable(container, 'GRAPHWRIGHT_GATEWAY_URL')).toBe(jobSettings.gateway.url)
      expect(variable(container, 'GRAPHWRIGHT_GATEWAY_CA')).toBe(jobSettings.gateway.caPem)
      expect(variable(container, 'GRAPHWRIGHT_ISOLATION_PROBES')).toBe('10.96.0.1:443,[fd00::1]:80')
    }
    expect(template.metadata?.labels?.['graphwright.dev/network']).toBe('isolated')
  })

  it('when open uses the cluster DNS and probes nothing', () => {
    const template = podOf({ network: 'open' })
    expect(template.spec.dnsPolicy).toBe('ClusterFirst')
    expect(template.spec).not.toHaveProperty('hostAliases')
    expect(variable(containers(template).input, 'GRAPHWRIGHT_ISOLATION_PROBES')).toBeUndefined()
    expect(template.metadata?.labels?.['graphwright.dev/network']).toBe('open')
  })

  it('is what the Environment says', () => {
    const toleration = { key: 'gpu', operator: 'Exists' }
    const { spec, metadata } = podOf({
      resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
      env: [{ name: 'REGION', value: 'eu' }],
      imagePullSecrets: ['pull'],
      runtimeClassName: 'sandbox',
      priorityClassName: 'low',
      nodeSelector: { disk: 'fast' },
      tolerations: [toleration],
      podLabels: { team: 'ops' },
      podAnnotations: { note: 'x' },
      workspaceSize: '5Gi',
    })
    expect(spec).toMatchObject({
      imagePullSecrets: [{ name: 'pull' }],
      runtimeClassName: 'sandbox',
      priorityClassName: 'low',
      nodeSelector: { disk: 'fast' },
    })
    expect(spec.tolerations?.[0]).toEqual(toleration)
    expect(spec.volumes?.find(({ name }) => name === 'workspace')).toEqual({
      name: 'workspace',
      emptyDir: { sizeLimit: '5Gi' },
    })
    expect(spec.containers[0]?.resources).toEqual({ requests: { cpu: '1' }, limits: { memory: '1Gi' } })
    expect(variable(spec.containers[0], 'REGION')).toBe('eu')
    expect(metadata?.labels?.team).toBe('ops')
    expect(metadata?.annotations).toEqual({ note: 'x' })
  })

  it('tolerates a silent node for 30 seconds only', () => {
    const short = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }
    expect(podOf().spec.tolerations).toEqual([
      { key: 'node.kubernetes.io/unreachable', ...short },
      { key: 'node.kubernetes.io/not-ready', ...short },
    ])
  })

  it("runs the agent's own image and command, else the image of the Environment", () => {
    const container = { image: 'mine:2', command: ['/bin/agent'], args: ['--fast'] }
    const version = anAgentVersion({ spec: { runtime: { container } } })
    expect(job({ agentVersion: version }).spec.template.spec.containers[0]).toMatchObject(container)
    expect(podOf({ image: 'theirs:1' }).spec.containers[0]).toMatchObject({ image: 'theirs:1' })
    expect(podOf().spec.containers[0]).not.toHaveProperty('command')
  })

  it('gives the agent a home it can write to, unless the Environment names one', () => {
    expect(variable(containers().agent, 'HOME')).toBe('/graphwright/workspace')
    const named = podOf({ env: [{ name: 'HOME', value: '/home/me' }] }).spec.containers[0]
    expect(named?.env).toEqual([{ name: 'HOME', value: '/home/me' }])
  })
})

describe('an Environment', () => {
  it.each(['graphwright.dev/run', 'sub.graphwright.dev/x', 'batch.kubernetes.io/job-name', 'controller-uid'])(
    'may not set the label %s',
    (label) => {
      expect(environmentProblem({ ...anEnvironment().spec, podLabels: { [label]: 'x' } })).toContain(label)
    },
  )

  it('may set labels of its own', () => {
    expect(environmentProblem({ ...anEnvironment().spec, podLabels: { 'example.org/team': 'x' } })).toBeUndefined()
  })
})
