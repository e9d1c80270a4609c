/** Labels on every child (kubectl get -l graphwright.dev/firing=NAME). Values are object names. */
export const labels = {
  managedBy: 'app.kubernetes.io/managed-by',
  graph: 'graphwright.dev/graph',
  automation: 'graphwright.dev/automation',
  firing: 'graphwright.dev/firing',
  session: 'graphwright.dev/session',
  run: 'graphwright.dev/run',
  step: 'graphwright.dev/step',
  agent: 'graphwright.dev/agent',
} as const

/** Annotations that people or the operator put on an object to ask for something. */
export const annotations = {
  /** On a firing, and by the operator on its Sessions and Runs: it is to end. The value says why, for people. */
  cancelRequested: 'graphwright.dev/cancel-requested',
  /** On an Automation: an automatic pause is to be lifted. The value is the time of the request; another one asks again. */
  resumeRequested: 'graphwright.dev/resume-requested',
  /** On a firing that is being deleted: let it go now, whatever still runs for it. */
  forceDelete: 'graphwright.dev/force-delete',
} as const

/** On a firing while anything that was started for it has not settled. */
export const settleFinalizer = 'graphwright.dev/settle'

/** Label of a run's pod, `isolated` or `open`: what the NetworkPolicy of a workspace selects by. */
export const networkLabel = 'graphwright.dev/network'

/** Value of {@link labels.managedBy}. */
export const managedByValue = 'graphwright'

/** Field managers of server-side apply. None starts with `kubectl`: GitOps tools strip those. */
export const fieldManagers = {
  manager: 'graphwright-manager',
  gateway: 'graphwright-gateway',
  cli: 'graphwright-cli',
} as const

/** Name of the ServiceAccount and the NetworkPolicy that the manager keeps in every workspace. */
export const runnerName = 'graphwright-runner'
