import { join } from 'node:path'

import type { Config } from '../../kernel/config/settings.ts'
import type { DiskSpaceOptions } from '../disk-space.ts'
import type { Storage } from '../storage.ts'
import type { Bucket } from './client.ts'
import { openS3Store } from './store.ts'

/** Returns the bucket of the settings. */
export const bucketOf = (config: Config): Bucket => ({
  endpoint: config.s3Endpoint,
  bucket: config.s3Bucket,
  region: config.s3Region,
  accessKeyId: config.s3AccessKeyId,
  secretAccessKey: config.s3SecretAccessKey,
  prefix: config.s3Prefix,
  pathStyle: config.s3PathStyle,
})

/** Opens storage in the bucket of the settings, with its cache in the data folder. */
export const openBucket = (config: Config, options: DiskSpaceOptions): Promise<Storage> =>
  openS3Store({
    ...bucketOf(config),
    ...options,
    cacheDir: join(config.dataDir, 's3-cache'),
    cacheBytes: config.s3CacheBytes,
  })
