# cython: language_level=3
"""Threads for work in C, which never take the interpreter's lock: they begin 10 to 15 microseconds sooner than those of
tnp/backends/cpu/threads.py, which run chunks that are Python.

A job lies on its caller's stack. Helpers find it in a list, under the mutex, and are counted while they work on it; the
caller takes it from the list and waits until nobody does. Idle helpers sleep; nobody spins.
"""
import os

cdef extern from "Python.h":
    int PyErr_CheckSignals() noexcept  # it may fail, but first the helpers must be done

cdef extern from * nogil:
    """
    static inline Py_ssize_t tnp_take(Py_ssize_t *next) { return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); }
    static inline void tnp_cancel(Py_ssize_t *next, Py_ssize_t end) { __atomic_store_n(next, end, __ATOMIC_RELAXED); }
    static inline int tnp_left(Py_ssize_t *next, Py_ssize_t end) {
        return __atomic_load_n(next, __ATOMIC_RELAXED) < end;
    }
    """
    Py_ssize_t tnp_take(Py_ssize_t *next)
    void tnp_cancel(Py_ssize_t *next, Py_ssize_t end)
    bint tnp_left(Py_ssize_t *next, Py_ssize_t end)

cdef extern from "<signal.h>" nogil:
    ctypedef struct sigset_t:
        pass
    int SIG_SETMASK
    int sigfillset(sigset_t *)

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    ctypedef struct pthread_t:
        pass
    int pthread_mutex_init(pthread_mutex_t *, void *)
    int pthread_mutex_lock(pthread_mutex_t *)
    int pthread_mutex_unlock(pthread_mutex_t *)
    int pthread_cond_init(pthread_cond_t *, void *)
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *)
    int pthread_cond_signal(pthread_cond_t *)
    int pthread_cond_broadcast(pthread_cond_t *)
    ctypedef struct pthread_attr_t:
        pass
    int pthread_attr_init(pthread_attr_t *)
    int pthread_attr_setstacksize(pthread_attr_t *, size_t)
    int pthread_attr_destroy(pthread_attr_t *)
    int pthread_create(pthread_t *, pthread_attr_t *, void *(*)(void *) noexcept nogil, void *)
    int pthread_detach(pthread_t)
    int pthread_sigmask(int, sigset_t *, sigset_t *)

cdef extern from "<time.h>" nogil:
    struct timespec:
        long tv_sec
        long tv_nsec
    int CLOCK_MONOTONIC
    int clock_gettime(int, timespec *)

cdef struct Job:
    task work
    void *context
    Py_ssize_t next, pieces  # the next piece that nobody has begun
    Py_ssize_t wanted, active  # helpers that may still come, and those at work; under the mutex
    Job *following

cdef enum:
    STACK = 1 << 22  # bytes of a helper's: kernels keep their blocks there, and some systems would give it 128 KiB
    ATTENTION = 50_000_000  # nanoseconds after which the caller looks whether it is to be interrupted

cdef pthread_mutex_t mutex
cdef pthread_cond_t wanted, finished
cdef Job *jobs = NULL
cdef Py_ssize_t started = 0


def _forget():
    """Begin without threads and jobs: as the child of a fork does."""
    global jobs, started
    pthread_mutex_init(&mutex, NULL)
    pthread_cond_init(&wanted, NULL)
    pthread_cond_init(&finished, NULL)
    jobs, started = NULL, 0


_forget()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


cdef void *help_out(void *unused) noexcept nogil:
    cdef Job *job
    cdef Py_ssize_t i
    pthread_mutex_lock(&mutex)
    while True:
        job = jobs
        while job != NULL and (job.wanted == 0 or not tnp_left(&job.next, job.pieces)):
            job = job.following
        if job == NULL:
            pthread_cond_wait(&wanted, &mutex)
            continue
        job.wanted -= 1
        job.active += 1
        pthread_mutex_unlock(&mutex)
        i = tnp_take(&job.next)
        while i < job.pieces:
            job.work(job.context, i)
            i = tnp_take(&job.next)
        pthread_mutex_lock(&mutex)
        job.active -= 1
        if job.active == 0:
            pthread_cond_broadcast(&finished)


cdef void start(Py_ssize_t helpers) noexcept nogil:
    """Have at least so many helpers, if the system lets us; under the mutex."""
    global started
    cdef pthread_t thread
    cdef pthread_attr_t attributes
    cdef sigset_t every, former
    if started >= helpers:
        return
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, STACK)
    sigfillset(&every)
    pthread_sigmask(SIG_SETMASK, &every, &former)  # signals are for the interpreter's own threads
    while started < helpers and pthread_create(&thread, &attributes, help_out, NULL) == 0:
        pthread_detach(thread)
        started += 1
    pthread_sigmask(SIG_SETMASK, &former, NULL)
    pthread_attr_destroy(&attributes)


cdef long long nanoseconds() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <long long>now.tv_sec * 1_000_000_000 + now.tv_nsec


cdef int share_out(task work, void *context, Py_ssize_t pieces, Py_ssize_t helpers) except -1:
    """Do ``work(context, i)`` for every ``i < pieces``, here and on up to so many other threads.

    An interrupt cancels the pieces that have not begun, and is raised when nobody works any more.
    """
    global jobs
    cdef Job job
    cdef Job **place
    cdef Py_ssize_t i
    cdef int failed = 0
    cdef long long looked
    job.work, job.context, job.next, job.pieces = work, context, 0, pieces
    job.wanted, job.active = min(helpers, pieces - 1), 0
    with nogil:
        if job.wanted > 0:
            pthread_mutex_lock(&mutex)
            start(job.wanted)
            job.following, jobs = jobs, &job
            if job.wanted == 1:
                pthread_cond_signal(&wanted)
            else:
                pthread_cond_broadcast(&wanted)
            pthread_mutex_unlock(&mutex)
        looked = nanoseconds()
        i = tnp_take(&job.next)
        while i < pieces:
            work(context, i)
            if nanoseconds() - looked > ATTENTION:
                with gil:
                    failed = PyErr_CheckSignals()
                looked = nanoseconds()
                if failed:
                    tnp_cancel(&job.next, pieces)
                    break
            i = tnp_take(&job.next)
        if helpers > 0 and pieces > 1:
            pthread_mutex_lock(&mutex)
            place = &jobs
            while place[0] != &job:
                place = &place[0].following
            place[0] = job.following
            while job.active > 0:
                pthread_cond_wait(&finished, &mutex)
            pthread_mutex_unlock(&mutex)
    return -1 if failed else 0
