/**
 * A manager in a process of its own that kills itself with SIGKILL at the write it is told to, or ends with its standard
 * input. Environment: KUBECONFIG, NAMESPACE, CRASH_AT (number of the write), CRASH_MOMENT (before | after).
 */
import { KubeClient } from '../../../src/kube/client.ts'
import { loadKubeConfig } from '../../../src/kube/config.ts'
import { coreTypes } from '../../../src/kube/core-types.ts'
import { EventRecorder } from '../../../src/kube/events.ts'
import { Transport } from '../../../src/kube/transport.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { createLogger } from '../../../src/runtime/log.ts'
import { Manager } from '../../../src/runtime/manager.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { testTypes, thingController } from './thing.ts'

const { NAMESPACE = '', CRASH_AT, CRASH_MOMENT } = process.env
const client = new KubeClient(new Transport(loadKubeConfig()), [...coreTypes, ...testTypes])
const log = createLogger({ level: 'warn' })
const manager = new Manager({
  client,
  clock: systemClock,
  log,
  metrics: new Metrics(),
  events: new EventRecorder(client, { controller: 'runtime.test', instance: 'crashing', onError: () => {} }),
  namespaces: [NAMESPACE],
  faults: (moment, { number }) => {
    if (String(number) === CRASH_AT && moment === CRASH_MOMENT) process.kill(process.pid, 'SIGKILL')
  },
})
manager.addController({ ...thingController, finalizer: 'runtime.test/settle' })
process.stdin.resume().on('end', () => process.exit(0))
await manager.start()
