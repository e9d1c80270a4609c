import { fieldManagers } from '../api/labels.ts'
import { run } from '../api/run.ts'
import { type Session, type SessionStatus, session } from '../api/session.ts'
import { reconcileSession, summarizeSession } from '../reconcilers/session.ts'
import { type ControllerSpec, watchOwned } from '../runtime/controller.ts'

export const sessionController: ControllerSpec<Session, SessionStatus> = {
  name: 'session',
  for: session,
  ready: 'Succeeded',
  fieldManager: fieldManagers.manager,
  reconcile: reconcileSession,
  summarize: summarizeSession,
  watches: [watchOwned(run, session)],
  concurrency: 8,
}
