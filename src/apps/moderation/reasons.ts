import { msg } from '../../kernel/words/message.ts'

/** Reasons of a report, with their labels in the form. */
export const reportReasons = {
  phishing: msg('It asks for passwords or money'),
  malware: msg('It harms the device'),
  abuse: msg('It attacks or harasses people'),
  copy: msg('It copies someone’s work'),
  other: msg('Something else'),
} as const

export type ReportReason = keyof typeof reportReasons

export const isReason = (value: string): value is ReportReason =>
  Object.hasOwn(reportReasons, value)

export const reasonNames = Object.keys(reportReasons).filter(isReason)
