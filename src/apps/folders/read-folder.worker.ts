import type { WorkerReply } from '../../kernel/worker-pool.ts'
import type { FolderTask, LocatedFolder } from './locate.ts'
import { type PageFolder, readPageFolder } from './page-folder.ts'
import { findCode, withCode } from './page-location.ts'
import { locateCode } from './script-location.ts'

declare const self: Worker

self.onmessage = ({ data: { files, locates } }: MessageEvent<FolderTask>) => {
  const folder = readPageFolder(files)
  const code = 'problem' in folder || !locates ? [] : findCode(folder).map(locateCode)
  const result = 'problem' in folder ? folder : withCode(folder, code)
  const reply: WorkerReply<PageFolder | LocatedFolder> = { result }
  self.postMessage(reply)
}
