import { integer, onOff, origin, secret, text } from './setting-types.ts'

const mb = 1_048_576

/** S3-compatible storage of the files, for several servers on one PostgreSQL database. */
export const s3 = {
  S3_ENDPOINT: origin(
    'URL of an S3-compatible store that keeps the files, such as https://s3.eu-central-1.amazonaws.com. ' +
      'Default: files in the data folder.',
  ),
  S3_BUCKET: text('Bucket for the files. It must exist.', {
    pattern: '^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$',
    expected: 'the name of a bucket',
  }),
  S3_REGION: text('Region of the bucket. Many stores accept any.', {
    default: 'us-east-1',
    pattern: '^[\\w-]{1,50}$',
    expected: 'a region, such as us-east-1',
  }),
  S3_ACCESS_KEY_ID: text('Access key that may read, write, list and delete in the bucket.'),
  S3_SECRET_ACCESS_KEY: secret('Secret of S3_ACCESS_KEY_ID.'),
  S3_PREFIX: text('Start of all names in the bucket, such as berth/, to share a bucket.', {
    pattern: '^([A-Za-z0-9._-]+/){0,5}$',
    expected: 'a prefix that ends with /, such as berth/',
  }),
  S3_PATH_STYLE: onOff(
    true,
    'Sends the bucket in the path. off sends it in the host name, as AWS prefers.',
  ),
  S3_CACHE_BYTES: integer(
    256 * mb,
    1_000_000 * mb,
    1_024 * mb,
    'Bytes of the cache in the data folder for files of the bucket.',
  ),
}

/** Checks the settings of S3 together. */
export function checkS3(values: Record<string, unknown>, problems: string[]): void {
  const parts = {
    S3_ENDPOINT: values.s3Endpoint,
    S3_BUCKET: values.s3Bucket,
    S3_ACCESS_KEY_ID: values.s3AccessKeyId,
    S3_SECRET_ACCESS_KEY: values.s3SecretAccessKey,
  }
  const missing = Object.entries(parts).flatMap(([name, value]) => (value === '' ? [name] : []))
  if (missing.length === Object.keys(parts).length) return
  if (missing.length > 0) {
    problems.push(`Storage in S3 also needs ${missing.join(', ')}. Set all of them or none.`)
  }
  if (values.databaseUrl === '') {
    problems.push(
      'S3_BUCKET needs DATABASE_URL: SQLite keeps its database in the data folder, so the files stay there too.',
    )
  }
}
