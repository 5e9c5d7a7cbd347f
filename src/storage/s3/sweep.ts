import { contentName, type IsReferenced, type SweepResult } from '../storage.ts'
import type { S3Client } from './client.ts'
import {
  abortOldUploads,
  changedMsOf,
  copyObject,
  deleteObject,
  keyOf,
  type ListedObject,
  listObjects,
  trashKeyOf,
} from './objects.ts'

/**
 * Removes unreferenced content of a bucket in two steps. The first moves it to the trash, from
 * where a read brings it back: another process may have put it between the check and the deletion.
 * The second, in a sweep after the same age, restores what a row references by then and deletes
 * the rest. Sweeps of several processes may overlap.
 */
export async function sweepBucket(
  client: S3Client,
  isReferenced: IsReferenced,
  before: number,
): Promise<SweepResult> {
  const done: SweepResult = { files: 0, removed: 0, bytes: 0 }
  for await (const page of listObjects(client, keyOf(''))) {
    const contents = page.filter(({ name }) => contentName.test(name))
    done.files += contents.length
    const old = contents.filter(({ changedMs }) => changedMs < before)
    for (const { name, bytes } of (await split(old, isReferenced)).unreferenced) {
      if (!(await discard(client, name, before))) continue
      done.removed += 1
      done.bytes += bytes
    }
  }
  for await (const page of listObjects(client, trashKeyOf(''))) {
    const old = page.filter(({ name, changedMs }) => contentName.test(name) && changedMs < before)
    const { referenced, unreferenced } = await split(old, isReferenced)
    for (const { name } of referenced) await restore(client, name)
    for (const { name } of [...referenced, ...unreferenced]) {
      await deleteObject(client, trashKeyOf(name))
    }
  }
  await abortOldUploads(client, before)
  return done
}

async function split(objects: ListedObject[], isReferenced: IsReferenced) {
  const names = objects.map(({ name }) => name)
  const found = names.length > 0 ? await isReferenced(names) : new Set<string>()
  return {
    referenced: objects.filter(({ name }) => found.has(name)),
    unreferenced: objects.filter(({ name }) => !found.has(name)),
  }
}

/** Moves content to the trash, unless it was put again since the listing. */
async function discard(client: S3Client, name: string, before: number): Promise<boolean> {
  const changedMs = await changedMsOf(client, keyOf(name))
  if (changedMs === undefined || changedMs >= before) return false
  if (!(await copyObject(client, keyOf(name), trashKeyOf(name)))) return false
  await deleteObject(client, keyOf(name))
  return true
}

/** Copies content back from the trash, unless it is there. */
async function restore(client: S3Client, name: string): Promise<boolean> {
  if ((await changedMsOf(client, keyOf(name))) !== undefined) return true
  return copyObject(client, trashKeyOf(name), keyOf(name))
}
