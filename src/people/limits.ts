export const followsPerPersonMax = 1_000
/** New items of followed makers that a person is notified of, and their age in days. */
export const newsMax = 100
export const newsDaysMax = 30
