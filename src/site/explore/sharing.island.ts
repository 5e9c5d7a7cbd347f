import { openSharing } from '../../../public/frame/sharing.ts'

openSharing()
