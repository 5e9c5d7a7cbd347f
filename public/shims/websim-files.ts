/**
 * Addresses that last, for pages of websim whose records name what they upload or draw:
 * `websim.upload`, which `imageGen` and `textToSpeech` use too where this script is. Source: the
 * documentation and public pages of websim (November 2026).
 */
import { dataUrl } from '../bridge/data-url.ts'
import { extend, files } from './bridge-calls.ts'

/** A file that the server does not take is a data: URL, which fits in a record when it is small. */
const upload = async (file: Blob): Promise<string> => {
  try {
    return (await files.upload(file)).url
  } catch (error) {
    console.warn(error)
    return dataUrl(file)
  }
}

extend('websim', { upload })
