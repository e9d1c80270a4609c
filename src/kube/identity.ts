import type { KubeClient } from './client.ts'
import { type SelfSubjectReview, selfSubjectReviewType } from './core-types.ts'

/** The user name that the API server knows this client by. Everybody who is authenticated may ask (KEP-3325). */
export async function whoAmI(client: KubeClient): Promise<string> {
  const { apiVersion, kind } = selfSubjectReviewType
  const review: SelfSubjectReview = { apiVersion, kind, metadata: { name: '' } }
  const answer = await client.create(review)
  return answer.status?.userInfo?.username ?? ''
}
