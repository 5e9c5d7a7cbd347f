import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { zipReader } from '../../hosting/folders/zip-reader.ts'
import { assetBytesMax, assetsPerAppMax } from '../../limits.ts'
import { detectFileKind } from '../../storage/file-kind.ts'
import { formatBytes } from '../format.ts'
import { type Form, rejectForm } from '../forms.ts'
import { zipBytesMax, zipFilesMax, zipUnpackedBytesMax } from './limits.ts'
import { packPage, type PageFile } from './page-folder.ts'

const noPage = 'Choose an HTML file or a zip, or paste HTML.'

/** A page to publish, with its assets. */
interface Upload {
  html: string
  assets: PageFile[]
}

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b

/** Reads the HTML file, the zip or the pasted text of a form. Throws `bad_request`, `try_again`. */
export async function readUpload(form: Form): Promise<Upload> {
  const file = form.file('file')
  if (!file) return checkPage({ html: form.text('html'), assets: [] })
  const bytes = await file.bytes()
  if (!isZip(bytes)) return checkPage({ html: await file.text(), assets: [] })
  if (bytes.length > zipBytesMax) rejectForm(`A zip has at most ${formatBytes(zipBytesMax)}.`)
  const bounds = { bytesMax: zipUnpackedBytesMax, filesMax: zipFilesMax }
  const found = await zipReader.read(bytes, bounds)
  if ('tooLarge' in found) {
    rejectForm(`The files of a zip have at most ${formatBytes(zipUnpackedBytesMax)}.`)
  }
  if ('reasons' in found) rejectForm(`The zip was not accepted: ${found.reasons.join(' ')}`)
  const packed = packPage(found.files)
  if ('problem' in packed) rejectForm(packed.problem)
  return checkPage(packed)
}

function checkPage(upload: Upload): Upload {
  if (upload.html.trim() === '') rejectForm(noPage)
  return upload
}

/** Checks all files before anything is published. Throws `assets_off` and `bad_request`. */
export async function checkUpload({ config }: AppContext, assets: PageFile[]): Promise<void> {
  if (!config.assetsOn) throw new ApiError('assets_off')
  if (assets.length > assetsPerAppMax) rejectForm(`An app has at most ${assetsPerAppMax} files.`)
  for (const { path, bytes } of assets) {
    const max = formatBytes(assetBytesMax)
    if (bytes.length > assetBytesMax) rejectForm(`${path} is larger than ${max}.`)
    const file = await detectFileKind(bytes)
    if ('reason' in file) rejectForm(`${path}: ${file.reason}.`)
  }
}
