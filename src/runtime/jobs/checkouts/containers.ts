// What a pod has more whose attempt works in a git repository: a container that waits until the service has brought the
// checkout, before the program begins. The keeper, which outlives the program, is where the service reads what became of it.
import { workspaceInside } from '../../attempts/process-limits.ts'
import { type Helper, hardenedContainer, makeHelperResources } from '../hardening.ts'
import type { Pod } from '../objects.ts'
import { checkoutName } from '../objects.ts'

/** The keeper's path of the workspace. */
export const keeperWorkspace = '/run/svc/workspace'
/** Out of the program's reach. */
const waitFolder = '/run/svc/checkout'
/** Made once the checkout is complete. */
export const filledMark = `${waitFolder}/filled`

const volumeName = 'checkout'
/** For bringing and reading a checkout: the service's own limits are earlier. */
export const checkoutSeconds = 1800

/** Starts before anything else of the pod. */
export function waitForCheckout({ image, limits }: Helper) {
  return {
    container: {
      name: checkoutName,
      image,
      imagePullPolicy: 'IfNotPresent',
      command: ['/bin/sh', '-c', `trap 'exit 1' TERM; until [ -e ${filledMark} ]; do sleep 0.1; done`],
      volumeMounts: [
        { name: 'workspace', mountPath: workspaceInside },
        { name: volumeName, mountPath: waitFolder },
      ],
      resources: makeHelperResources(limits),
      securityContext: hardenedContainer,
    },
    volume: { name: volumeName, emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  }
}

export function hasCheckout(pod: Pod | undefined): pod is Pod {
  return pod?.spec?.initContainers?.some(({ name }) => name === checkoutName) ?? false
}

/** Whether it waits for its checkout now. */
export function awaitsCheckout(pod: Pod): boolean {
  return pod.status?.initContainerStatuses?.some(({ name, state }) => name === checkoutName && state?.running) ?? false
}
