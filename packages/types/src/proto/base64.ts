// The protobuf library brings a base64 that runs in every runtime; it is reached through here because only this folder knows the library.
export { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
