/** The headers that name the public method behind a REST or admin call, as the reference client calls it: `get_training_run`. */
export function sdkHeaders(method: string, sdkVersion: string): Record<string, string> {
  return { 'x-sdk-version': sdkVersion, 'x-sdk-method': method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) };
}
