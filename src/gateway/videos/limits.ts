import { minute } from '../../core/time.ts'

/** Polls of a video in a row that may fail, and the longest wait after one: about 20 minutes. */
export const videoFailuresMax = 20
export const videoRetryMsMax = minute
