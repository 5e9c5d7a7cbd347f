/** The parts of requests and responses that some APIs have no field for. */
const allFeatures = [
  'allowedTools',
  'audio',
  'cacheMarks',
  'callSignature',
  'choiceOfNames',
  'choices',
  'citedRange',
  'citedText',
  'custom',
  'customTool',
  'declined',
  'detail',
  'effort',
  'failedResult',
  'filename',
  'fileUrl',
  'filtered',
  'formatDetails',
  'hot',
  'laterSystem',
  'logprobs',
  'longIds',
  'minP',
  'negativePenalties',
  'objectFormat',
  'order',
  'pdf',
  'penalties',
  'resultMedia',
  'resultUrl',
  'seed',
  'serial',
  'signedByAnthropic',
  'signedByGoogle',
  'signedByOpenAi',
  'stop',
  'strict',
  'temperatureWithTopP',
  'topK',
  'unsigned',
  'video',
  'wholeCache',
  'wholeTopP',
] as const
export type Feature = (typeof allFeatures)[number]

/** Tells whether a request or a response may have a feature. */
export type Can = (feature: Feature) => boolean

/** Returns the features of a list of names. */
export function features(list: string): ReadonlySet<Feature> {
  return new Set(
    list
      .trim()
      .split(/\s+/)
      .map((word) => {
        const found = allFeatures.find((name) => name === word)
        if (!found) throw new Error(`There is no feature ${word}.`)
        return found
      }),
  )
}
