import { lookUp } from '../../core/schema.ts'
import { messageOf } from '../../core/text.ts'
import { type Bucket, S3Error } from './client.ts'

const advice: Record<string, (bucket: Bucket) => string> = {
  NoSuchBucket: ({ bucket }) =>
    `S3_BUCKET ${bucket} does not exist. Create it, or fix S3_BUCKET and S3_ENDPOINT.`,
  InvalidBucketName: ({ bucket }) => `S3_BUCKET ${bucket} is not a valid name for this store.`,
  InvalidAccessKeyId: () => 'The store does not know S3_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: () =>
    'S3_SECRET_ACCESS_KEY does not belong to S3_ACCESS_KEY_ID, or S3_REGION is wrong.',
  AuthorizationHeaderMalformed: () => 'S3_REGION is not the region of the bucket.',
  PermanentRedirect: () => 'S3_ENDPOINT or S3_REGION is not that of the bucket.',
  RequestTimeTooSkewed: () =>
    'The clock of this machine differs from that of the store. Set it, for example with NTP.',
  AccessDenied: ({ bucket }) =>
    `S3_ACCESS_KEY_ID may not read, write and list in S3_BUCKET ${bucket}. Grant s3:GetObject, ` +
    's3:PutObject, s3:DeleteObject, s3:ListBucket and s3:AbortMultipartUpload.',
}

/** Returns an error that says which setting or part prevents the use of a bucket. */
export function startProblem(error: unknown, bucket: Bucket): Error {
  const { endpoint } = bucket
  if (!(error instanceof S3Error)) return new Error(`S3_ENDPOINT ${endpoint}: ${messageOf(error)}`)
  const { status, code, message } = error
  const known = lookUp(advice, code)?.(bucket)
  if (known !== undefined) return new Error(`${known} (${endpoint}: ${code})`)
  const why = `${code}: ${message}`
  if (status === 0) {
    return new Error(`S3_ENDPOINT ${endpoint} cannot be reached. Start it, or fix it. (${why})`)
  }
  if (status >= 500) return new Error(`S3_ENDPOINT ${endpoint} does not work right now. (${why})`)
  return new Error(`S3_ENDPOINT ${endpoint} rejected a request (${status}). (${why})`)
}
