import { buildPublic, isPublicFresh } from '../../scripts/build-public.ts'

// Tests must pass from a clean checkout, where public/dist does not exist yet.
if (!(await isPublicFresh())) await buildPublic()
