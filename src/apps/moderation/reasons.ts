/** Reasons of a report, with their labels in the form. */
export const reportReasons = {
  phishing: 'It asks for passwords or money',
  malware: 'It harms the device',
  abuse: 'It attacks or harasses people',
  copy: 'It copies someone’s work',
  other: 'Something else',
} as const

export type ReportReason = keyof typeof reportReasons

export const isReason = (value: string): value is ReportReason =>
  Object.hasOwn(reportReasons, value)

export const reasonNames = Object.keys(reportReasons).filter(isReason)
