// answers.c in Rust, without bindings: what is inline in C is called by its place in struct ibv_context.
use std::ffi::CString;
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc;
use std::thread;

const THREADS: i32 = 4;
const SIZE: usize = 64;
const RAI_PASSIVE: c_int = 1;
const PS_TCP: c_int = 0x106;
const LOCAL_WRITE: c_int = 1;
const OF_POLL: usize = 11; // the place in struct ibv_context_ops
const OF_SEND: usize = 25;
const OF_RECEIVE: usize = 26;

#[repr(C)]
struct AddrInfo {
    flags: c_int,
    family: c_int,
    qp_type: c_int,
    port_space: c_int,
    rest: [u64; 16],
}

#[repr(C)]
struct QpInitAttr {
    context: *mut c_void,
    queues: [*mut c_void; 3],
    cap: [u32; 5], // sends, receives, pieces of each, inline bytes
    qp_type: c_int,
    sq_sig_all: c_int,
}

#[repr(C)]
struct Context {
    device: *mut c_void,
    ops: [*const c_void; 32],
}

#[repr(C)]
struct Qp {
    context: *mut Context,
    qp_context: *mut c_void,
    pd: *mut c_void,
    send_cq: *mut c_void,
    recv_cq: *mut c_void,
}

#[repr(C)]
struct CmId {
    verbs: *mut Context,
    channel: *mut c_void,
    context: *mut c_void,
    qp: *mut Qp,
}

#[repr(C)]
struct Mr {
    context: *mut c_void,
    pd: *mut c_void,
    addr: *mut c_void,
    length: usize,
    handle: u32,
    lkey: u32,
    rkey: u32,
}

#[repr(C)]
struct Sge {
    addr: u64,
    length: u32,
    lkey: u32,
}

#[repr(C)]
struct Receive {
    id: u64,
    next: *mut c_void,
    pieces: *mut Sge,
    count: c_int,
}

#[repr(C)]
struct Send {
    id: u64,
    next: *mut c_void,
    pieces: *mut Sge,
    count: c_int,
    opcode: c_int,
    flags: u32,
    rest: [u64; 11],
}
const IBV_WR_SEND: c_int = 2;

#[repr(C)]
struct Completion {
    id: u64,
    status: c_int,
    rest: [u32; 9],
}

#[link(name = "rdmacm")]
extern "C" {
    fn rdma_getaddrinfo(node: *const c_char, service: *const c_char, hints: *const AddrInfo, found: *mut *mut AddrInfo) -> c_int;
    fn rdma_freeaddrinfo(found: *mut AddrInfo);
    fn rdma_create_ep(id: *mut *mut CmId, found: *mut AddrInfo, pd: *mut c_void, wanted: *mut QpInitAttr) -> c_int;
    fn rdma_destroy_ep(id: *mut CmId);
    fn rdma_listen(id: *mut CmId, backlog: c_int) -> c_int;
    fn rdma_get_request(listener: *mut CmId, id: *mut *mut CmId) -> c_int;
    fn rdma_accept(id: *mut CmId, parameters: *mut c_void) -> c_int;
    fn rdma_connect(id: *mut CmId, parameters: *mut c_void) -> c_int;
    fn rdma_disconnect(id: *mut CmId) -> c_int;
}

#[link(name = "ibverbs")]
extern "C" {
    fn ibv_reg_mr(pd: *mut c_void, addr: *mut c_void, length: usize, access: c_int) -> *mut Mr;
    fn ibv_dereg_mr(region: *mut Mr) -> c_int;
}

fn check(result: c_int, what: &str) {
    assert!(result == 0, "{}: {}", what, std::io::Error::last_os_error());
}

struct End {
    id: *mut CmId,
    region: *mut Mr,
    bytes: Box<[u8; 2 * SIZE]>,
}

unsafe impl std::marker::Send for End {}

impl End {
    fn new(id: *mut CmId) -> End {
        let mut bytes = Box::new([0u8; 2 * SIZE]);
        unsafe {
            let region = ibv_reg_mr((*(*id).qp).pd, bytes.as_mut_ptr() as *mut c_void, 2 * SIZE, LOCAL_WRITE);
            assert!(!region.is_null(), "ibv_reg_mr");
            let mut piece = Sge { addr: bytes.as_ptr() as u64, length: SIZE as u32, lkey: (*region).lkey };
            let mut request = Receive { id: 1, next: null_mut(), pieces: &mut piece, count: 1 };
            let mut bad: *mut Receive = null_mut();
            let post: extern "C" fn(*mut Qp, *mut Receive, *mut *mut Receive) -> c_int =
                std::mem::transmute((*(*(*id).qp).context).ops[OF_RECEIVE]);
            check(post((*id).qp, &mut request, &mut bad), "post_recv");
            End { id, region, bytes }
        }
    }

    fn complete(&self, queue: *mut c_void) {
        unsafe {
            let mut completion: Completion = zeroed();
            let poll: extern "C" fn(*mut c_void, c_int, *mut Completion) -> c_int =
                std::mem::transmute((*(*self.id).verbs).ops[OF_POLL]);
            while poll(queue, 1, &mut completion) == 0 {
                thread::yield_now();
            }
            assert_eq!(completion.status, 0, "a completion");
        }
    }

    fn receive(&self) -> i32 {
        self.complete(unsafe { (*(*self.id).qp).recv_cq });
        let text: String = self.bytes[..SIZE].iter().take_while(|byte| **byte != 0).map(|byte| *byte as char).collect();
        text.parse().expect("a number")
    }

    fn send(&mut self, number: i32) {
        let text = number.to_string();
        self.bytes[SIZE..SIZE + text.len()].copy_from_slice(text.as_bytes());
        unsafe {
            let mut piece = Sge { addr: self.bytes.as_ptr() as u64 + SIZE as u64, length: SIZE as u32, lkey: (*self.region).lkey };
            let mut request: Send = zeroed();
            request.pieces = &mut piece;
            request.count = 1;
            request.opcode = IBV_WR_SEND;
            let mut bad: *mut Send = null_mut();
            let post: extern "C" fn(*mut Qp, *mut Send, *mut *mut Send) -> c_int =
                std::mem::transmute((*(*self.id).verbs).ops[OF_SEND]);
            check(post((*self.id).qp, &mut request, &mut bad), "post_send");
            self.complete((*(*self.id).qp).send_cq);
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        unsafe {
            rdma_disconnect(self.id);
            ibv_dereg_mr(self.region);
            rdma_destroy_ep(self.id);
        }
    }
}

fn end_point(address: Option<&str>) -> *mut CmId {
    assert_eq!(size_of::<Completion>(), 48);
    assert_eq!(size_of::<Send>(), 128);
    unsafe {
        let mut hints: AddrInfo = zeroed();
        hints.port_space = PS_TCP;
        if address.is_none() {
            hints.flags = RAI_PASSIVE;
        }
        let mut wanted: QpInitAttr = zeroed();
        wanted.cap = [2, 2, 1, 1, 0];
        wanted.sq_sig_all = 1;
        let name = address.map(|text| CString::new(text).unwrap());
        let port = CString::new("7471").unwrap();
        let mut found: *mut AddrInfo = null_mut();
        let mut id: *mut CmId = null_mut();
        let node = name.as_ref().map_or(null(), |text| text.as_ptr());
        check(rdma_getaddrinfo(node, port.as_ptr(), &hints, &mut found), "rdma_getaddrinfo");
        check(rdma_create_ep(&mut id, found, null_mut(), &mut wanted), "rdma_create_ep");
        rdma_freeaddrinfo(found);
        id
    }
}

fn serve() {
    let listener = end_point(None);
    check(unsafe { rdma_listen(listener, THREADS) }, "rdma_listen");
    let mut all = Vec::new();
    for _ in 0..THREADS {
        let mut id: *mut CmId = null_mut();
        check(unsafe { rdma_get_request(listener, &mut id) }, "rdma_get_request");
        let mut end = End::new(id);
        all.push(thread::spawn(move || {
            check(unsafe { rdma_accept(end.id, null_mut()) }, "rdma_accept");
            let number = end.receive();
            end.send(10 * number);
        }));
    }
    for each in all {
        each.join().unwrap();
    }
    unsafe { rdma_destroy_ep(listener) };
}

fn ask(address: &str) {
    let (answers, all) = mpsc::channel();
    for _ in 0..THREADS {
        let answers = answers.clone();
        let address = address.to_string();
        thread::spawn(move || {
            let mut end = End::new(end_point(Some(&address)));
            check(unsafe { rdma_connect(end.id, null_mut()) }, "rdma_connect");
            end.send(7);
            let number = end.receive();
            drop(end);
            answers.send(number).unwrap();
        });
    }
    drop(answers);
    println!("the sum of the answers is {}", all.iter().sum::<i32>());
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() < 3 {
        serve();
    } else {
        ask(&arguments[2]);
    }
}
