import * as T from '@tinkex/types';
const D=128,N=4096;
const request: T.ForwardBackwardRequest = { modelId:'m', seqId:1, lossFn:'c', data: Array.from({length:D},(_,datum)=>{ const tokens=Int32Array.from({length:N},(_e,i)=>(datum*7919+i*104729)%150000); return { modelInput:T.ModelInput.fromInts(tokens), lossFnInputs:{ targetTokens:T.TensorData.fromArray(tokens,'int64'), weights:T.TensorData.fromArray(new Float32Array(N).fill(1)) } } }) };
const text=T.stringifyJson(T.forwardBackwardRequest.encode(request));
const mode=process.argv[2];
for(let i=0;i<60;i++){ if(mode==='enc') T.stringifyJson(T.forwardBackwardRequest.encode(request)); else T.forwardBackwardRequest.decode(T.parseJson(text)); }
