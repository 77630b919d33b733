/** The numbers of the schema's DType. */
export const DTYPE_FLOAT32 = 1;
/** The numbers of the schema's DType. */
export const DTYPE_INT64 = 2;
/** The numbers of the schema's DType. */
export const DTYPE_INT32 = 3;
/** The numbers of the schema's DType. */
export const DTYPE_BFLOAT16 = 4;
