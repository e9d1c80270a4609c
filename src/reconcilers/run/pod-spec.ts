import type { AgentVersionSpec } from '../../api/agent.ts'
import type { EnvironmentSpec } from '../../api/environment.ts'
import { runnerName } from '../../api/labels.ts'
import { containerNames, gatewayAudience, podGraceSeconds, podPaths, runnerEnv } from '../../api/run-api.ts'
import type { Container, EnvVar, PodSpec } from '../../kube/core-types.ts'
import type { DeepReadonly } from '../../lib/readonly.ts'
import type { Endpoint, JobSettings } from './job-settings.ts'

const runnerUser = 65532
const agentUser = 10001
const tokenSeconds = 3600
/** A pod on a node that went silent is given up after this time, not after the five minutes that are the default. */
const unreachableSeconds = 30

const scratchPath = '/graphwright/workspace'
const tokenFolder = podPaths.token.slice(0, podPaths.token.lastIndexOf('/'))
const runnerProgram = '/app/runner.cjs'

type Environment = DeepReadonly<EnvironmentSpec>

/** Image of the main container: the agent's own, else that of the environment; undefined where neither names one. */
export function imageOf(environment: Environment, agent: DeepReadonly<AgentVersionSpec>): string | undefined {
  return agent.runtime.container?.image ?? environment.image
}

/** The pod of a run. Passes Pod Security `restricted`. */
export function podSpecFor(
  environment: Environment,
  agent: DeepReadonly<AgentVersionSpec>,
  settings: JobSettings,
): PodSpec {
  return {
    restartPolicy: 'Never',
    serviceAccountName: runnerName,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: podGraceSeconds,
    securityContext: {
      runAsNonRoot: true,
      // The group through which the runner reads what the main container wrote, and its own token.
      fsGroup: runnerUser,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...network(environment, settings),
    ...placement(environment),
    initContainers: [runnerContainer(environment, settings), inputContainer(environment, settings)],
    containers: [agentContainer(environment, agent)],
    volumes: volumes(environment),
  }
}

/** An isolated pod has no DNS: it knows the gateway by a line in its hosts file, and no other name. */
function network(environment: Environment, { gateway }: JobSettings): Partial<PodSpec> {
  if (environment.network === 'open') return { dnsPolicy: 'ClusterFirst' }
  return {
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    hostAliases: [{ ip: gateway.clusterIP, hostnames: [gateway.host] }],
  }
}

function placement(environment: Environment): Partial<PodSpec> {
  const { imagePullSecrets, nodeSelector, priorityClassName, runtimeClassName, tolerations } = environment
  const silentNode = ['unreachable', 'not-ready'].map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: unreachableSeconds,
  }))
  return {
    tolerations: [...(tolerations ?? []), ...silentNode],
    ...(nodeSelector && { nodeSelector: { ...nodeSelector } }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(runtimeClassName !== undefined && { runtimeClassName }),
    ...(imagePullSecrets && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
  }
}

function inputContainer(environment: Environment, settings: JobSettings): Container {
  return {
    ...runnerBase(environment, settings, 'input'),
    name: containerNames.input,
    volumeMounts: [tokenMount, { name: 'input', mountPath: podPaths.input }],
  }
}

function runnerContainer(environment: Environment, settings: JobSettings): Container {
  return {
    ...runnerBase(environment, settings, 'serve'),
    name: containerNames.runner,
    restartPolicy: 'Always',
    volumeMounts: [
      tokenMount,
      // Only to see whether the input came: without it the main container has not run, and left nothing to report.
      { name: 'input', mountPath: podPaths.input, readOnly: true },
      { name: 'output', mountPath: podPaths.output, readOnly: true },
    ],
  }
}

const tokenMount = { name: 'token', mountPath: tokenFolder, readOnly: true }

function runnerBase(environment: Environment, settings: JobSettings, mode: 'input' | 'serve'): Container {
  return {
    name: mode,
    image: settings.runnerImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', runnerProgram, mode],
    env: runnerVariables(environment, settings),
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: restricted(runnerUser),
  }
}

function runnerVariables(environment: Environment, { gateway, isolationProbes }: JobSettings): EnvVar[] {
  const variables = [
    { name: runnerEnv.gatewayUrl, value: gateway.url },
    { name: runnerEnv.gatewayCa, value: gateway.caPem },
  ]
  if (environment.network === 'open') return variables
  const probes = [...isolationProbes, ...(environment.isolationProbes ?? [])]
  return [...variables, { name: runnerEnv.isolationProbes, value: probes.map(endpointText).join(',') }]
}

function endpointText({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function agentContainer(environment: Environment, agent: DeepReadonly<AgentVersionSpec>): Container {
  const { command, args } = agent.runtime.container ?? {}
  const { requests, limits } = environment.resources ?? {}
  const variables = environment.env ?? []
  // The root is read-only: tools that keep caches in the home directory get one that is not, unless told otherwise.
  const home = variables.some(({ name }) => name === 'HOME') ? [] : [{ name: 'HOME', value: scratchPath }]
  return {
    name: containerNames.agent,
    image: imageOf(environment, agent) ?? '',
    ...(command && { command: [...command] }),
    ...(args && { args: [...args] }),
    env: [...home, ...variables.map(({ name, value }) => ({ name, value }))],
    ...((requests || limits) && {
      resources: { ...(requests && { requests: { ...requests } }), ...(limits && { limits: { ...limits } }) },
    }),
    securityContext: restricted(agentUser),
    volumeMounts: [
      { name: 'input', mountPath: podPaths.input, readOnly: true },
      { name: 'output', mountPath: podPaths.output },
      { name: 'workspace', mountPath: scratchPath },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  }
}

function restricted(user: number): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

function volumes(environment: Environment): NonNullable<PodSpec['volumes']> {
  const sizeLimit = environment.workspaceSize
  return [
    {
      name: 'token',
      projected: {
        sources: [
          { serviceAccountToken: { audience: gatewayAudience, expirationSeconds: tokenSeconds, path: 'token' } },
        ],
      },
    },
    { name: 'input', emptyDir: {} },
    { name: 'output', emptyDir: { sizeLimit } },
    { name: 'workspace', emptyDir: { sizeLimit } },
    { name: 'tmp', emptyDir: { sizeLimit } },
  ]
}
