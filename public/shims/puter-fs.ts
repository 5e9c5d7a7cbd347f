/**
 * `puter.fs` over `service.store`: files and folders of the player. A folder above a new file is
 * made with it. Source: https://docs.puter.com/FS (November 2026).
 */
import { dataUrl } from '../bridge/data-url.ts'
import { field } from '../frame/messages.ts'
import { extend, failure, store, textOf } from './bridge-calls.ts'
import { fileKey, filePrefix, home } from './puter-files.ts'

/** A file or a folder as it is stored. Times are in seconds. */
interface Entry {
  /** The content as a data: URL; undefined for a folder. */
  content?: string
  size: number | null
  created: number
  modified: number
}

/** Returns a path from the root: "~" is the home of the player, and so is what a path begins at. */
function resolve(given: unknown): string {
  const path = textOf(field(given, 'path') ?? given).replace(/^~(?=\/|$)/, home)
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${home}/${path}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const isRoot = (path: string): boolean => path === '/' || path === home

async function find(path: string): Promise<Entry | undefined> {
  const stored = await store.get(fileKey(path))
  if (stored === null) return isRoot(path) ? { size: null, created: 0, modified: 0 } : undefined
  const [content, size] = [field(stored, 'content'), field(stored, 'size')]
  return {
    ...(typeof content === 'string' && { content }),
    size: typeof size === 'number' ? size : null,
    created: Number(field(stored, 'created')),
    modified: Number(field(stored, 'modified')),
  }
}

async function need(path: string): Promise<Entry> {
  const entry = await find(path)
  if (entry) return entry
  throw failure('subject_does_not_exist', `There is no file or folder ${path}.`)
}

/** Returns an entry as pages get it. */
const itemOf = (path: string, { content, size, created, modified }: Entry) => ({
  id: path,
  uid: path,
  name: nameOf(path),
  path,
  is_dir: content === undefined,
  parent_id: parentOf(path),
  parent_uid: parentOf(path),
  created,
  modified,
  accessed: modified,
  size,
  writable: true,
})
type Item = ReturnType<typeof itemOf>

const seconds = (): number => Math.floor(Date.now() / 1_000)

async function put(path: string, content?: string, size: number | null = null): Promise<Item> {
  const now = seconds()
  const before = await find(path)
  if (content !== undefined && before && before.content === undefined) {
    throw failure('cannot_overwrite_a_directory', `${path} is a folder. Write to a path in it.`)
  }
  const entry: Entry = {
    ...(content !== undefined && { content }),
    size,
    created: before?.created || now,
    modified: now,
  }
  await store.set(fileKey(path), { ...entry })
  return itemOf(path, entry)
}

async function makeFolders(path: string): Promise<void> {
  if (isRoot(path) || (await find(path))) return
  await makeFolders(parentOf(path))
  await put(path)
}

/** Returns a path that is free: "notes (1).txt" for a name that is taken. */
async function freePath(path: string): Promise<string> {
  const [, start = path, ending = ''] = /^(.*?)(\.[^./]+)?$/.exec(path) ?? []
  const keys = new Set(await store.list(fileKey(`${start} (`)))
  let count = 1
  while (keys.has(fileKey(`${start} (${count})${ending}`))) count += 1
  return `${start} (${count})${ending}`
}

interface WriteOptions {
  path?: string
  overwrite?: boolean
  dedupeName?: boolean
  newName?: string
}

/** Returns where to write. Throws for a name that is taken. */
async function placeFor(path: string, options: WriteOptions, replaces: boolean): Promise<string> {
  if (!(await find(path))) return path
  if (options.dedupeName === true) return freePath(path)
  if (options.overwrite ?? replaces) return path
  throw failure('item_with_same_name_exists', `${nameOf(path)} already exists.`)
}

async function write(
  target: unknown,
  data: unknown = '',
  options: WriteOptions = {},
): Promise<Item> {
  const file = target instanceof File ? target : undefined
  const path = await placeFor(resolve(file?.name ?? target), options, true)
  const content = file ?? data
  const blob =
    content instanceof Blob ? content : new Blob([textOf(content)], { type: 'text/plain' })
  await makeFolders(parentOf(path))
  return put(path, await dataUrl(blob), blob.size)
}

async function read(target: unknown, options: unknown = target): Promise<Blob> {
  const path = resolve(target)
  const { content } = await need(path)
  if (content === undefined) throw failure('subject_is_directory', `${path} is a folder.`)
  const blob = await (await fetch(content)).blob()
  const [offset, bytes] = [field(options, 'offset'), field(options, 'byte_count')]
  if (bytes === undefined) return blob
  const start = Number(offset ?? 0)
  return blob.slice(start, start + Number(bytes), blob.type)
}

async function mkdir(target: unknown, options: WriteOptions = Object(target)): Promise<Item> {
  const path = await placeFor(resolve(target), options, false)
  await makeFolders(parentOf(path))
  return put(path)
}

/** Returns what all paths in a folder begin with. */
const startIn = (folder: string): string => (folder === '/' ? folder : `${folder}/`)

/** Returns the paths of all that is in a folder, at any depth. */
async function pathsBelow(path: string): Promise<string[]> {
  const keys = await store.list(fileKey(startIn(path)))
  return keys.map((key) => key.slice(filePrefix.length))
}

async function readdir(target: unknown = './'): Promise<Item[]> {
  const path = resolve(target)
  await need(path)
  const own = (await pathsBelow(path)).filter((one) => parentOf(one) === path)
  return Promise.all(own.map(async (one) => itemOf(one, await need(one))))
}

async function remove(target: unknown): Promise<void> {
  for (const given of [field(target, 'paths') ?? target].flat()) {
    const path = resolve(given)
    await need(path)
    for (const one of [path, ...(await pathsBelow(path))]) await store.delete(fileKey(one))
  }
}

/** Copies a file, or a folder with all in it. Throws for a folder that would be in itself. */
async function copyTo(from: string, path: string): Promise<Item> {
  const entry = await need(from)
  if (path === from || path.startsWith(startIn(from))) {
    throw failure('source_and_dest_are_same', `${path} is ${from}, or is in it. Use another path.`)
  }
  await makeFolders(parentOf(path))
  for (const one of await pathsBelow(from)) {
    const { content, size } = await need(one)
    await put(path + one.slice(from.length), content, size)
  }
  return put(path, entry.content, entry.size)
}

/** Copies a file or a folder into a folder, or to a new path. */
async function copy(source: unknown, target: unknown, options: WriteOptions = {}): Promise<Item> {
  const from = resolve(source)
  const into = resolve(target)
  const folder = await find(into)
  const isFolder = folder !== undefined && folder.content === undefined
  const place = isFolder ? `${into}/${options.newName ?? nameOf(from)}` : into
  return copyTo(from, await placeFor(resolve(place), options, false))
}

async function move(source: unknown, target: unknown, options: WriteOptions = {}): Promise<Item> {
  const item = await copy(source, target, options)
  await remove(source)
  return item
}

async function rename(target: unknown, name: string): Promise<Item> {
  const from = resolve(target)
  const path = resolve(`${parentOf(from)}/${name}`)
  if (path === from) return stat(from)
  const item = await copyTo(from, await placeFor(path, {}, false))
  await remove(from)
  return item
}

async function upload(
  items: Iterable<File> | File,
  folder: unknown = './',
): Promise<Item | Item[]> {
  const files = items instanceof File ? [items] : [...items]
  const written: Item[] = []
  for (const file of files) {
    written.push(await write(`${resolve(folder)}/${file.name}`, file, { dedupeName: true }))
  }
  const [first] = written
  return first && written.length === 1 ? first : written
}

const stat = async (target: unknown): Promise<Item> => {
  const path = resolve(target)
  return itemOf(path, await need(path))
}

extend('puter', {
  fs: Object.freeze({
    write,
    read,
    mkdir,
    readdir,
    list: readdir,
    stat,
    copy,
    move,
    upload,
    delete: remove,
    rename,
    /** The file itself, since nothing here has a public address. */
    getReadURL: async (target: unknown) => (await need(resolve(target))).content ?? '',
  }),
})
