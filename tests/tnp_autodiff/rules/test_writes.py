"""In-place programs: their derivatives are those of differences, to second order."""

import numpy
import pytest

import tnp
from tests.tnp_autodiff.differences import check
from tnp_autodiff import NotDifferentiableError, grad

RNG = numpy.random.default_rng(5)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))

PROGRAMS = [
    "r=x*1.0; r[0]=y[1]*2",
    "r=x*y; r[1:]=r[:-1]",
    "r=x*1.0; r+=y; r*=x; r-=y; r/=(y*y+1)",
    "r=x*1.0; r**=2",
    "r=np.zeros((3,4)); r[[2,2]]=x[:2]",
    "r=np.zeros((3,4)); r[[0,0]]+=x[:2]; r[0]*=y[1]",
    "r=np.zeros((3,4)); np.add.at(r,[0,0],x[:2])",
    "r=x*1.0; np.subtract.at(r,([0,0],[1,1]),y[0,:2])",
    "r=x*1.0; np.multiply.at(r,([0,0,0,2],[1,1,2,1]),y[0])",
    "r=x*1.0; np.divide.at(r,[2,2,1],1.5+y*y)",
    "r=x*x+1; np.power.at(r,(0,[1,1]),y[0,:2])",
    "r=x*1.0; np.maximum.at(r,[0,0,1],y)",
    "r=x*1.0; np.minimum.at(r,([0,0,0],[3,3,3]),y[1,:3])",
    "r=x*1.0; np.exp.at(r,([0,0,1],[3,3,0]))",
    "r=x*1.0; np.negative.at(r,np.s_[::2,1:])",
    "r=x*1.0; np.multiply.at(r,r>0,y[0,0])",
    "r=x*1.0; np.multiply.at(r.T[::-1],[1,1],y[0,:3])",
    "r=np.ones((3,4)); np.multiply.at(r,[1,1],x[:2])",
    "r=x*1.0; np.multiply.at(r,[],y[:0])",
    "r=x*1.0; np.multiply.at(r,[0,2,0],r)",
    "r=x+1j*y; np.multiply.at(r,[0,2,0],y+1j*x)",
    "r=x*1.0; np.floor.at(r,[0,2])",
    "r=x*1.0; r[np.array([[True,False,True,False]]*3)]=y[0,0]",
    "r=x*1.0; r[r>0]*=2.0",
    "r=x*1.0; v=r.T[::-1]; v[0]=y[:,1]; v[1]*=3",
    "r=x*1.0; r[0],r[2]=r[2],r[0]",
    "r=x*1.0; r[0,0],r[2,1]=r[2,1],r[0,0]",
    "r=np.zeros(12).reshape(3,4); r.reshape(-1)[::2]=x[0,:2].repeat(3)",
    "r=x*1.0; r.fill(2.0); r[1]=y[0]",
    "r=x*1.0; r.sort(axis=1)",
    "r=x*1.0; r.partition(2)",
    "r=x*1.0; np.copyto(r,y,where=np.array([[True,False,True,False]]*3))",
    "r=x*1.0; np.copyto(r,y[0])",
    "r=x*1.0; np.put(r,[0,5,-1],y[0,:2])",
    "r=x*1.0; np.putmask(r,r>0,y)",
    "r=x*1.0; np.place(r,r>0,y[0])",
    "r=x*1.0; np.fill_diagonal(r,y[0,0])",
    "r=x*1.0; np.put_along_axis(r,np.array([[1],[0],[2]]),y[:,:1],1)",
    "r=x@y.T; r@=r",
    "r=np.zeros((3,4),'c16'); r.real=x; r.imag=y; r=r*r",
    "r=np.zeros((3,4),'c16'); r.real[1:]=x[1:]; r.imag[...]=y; r.real*=2; r=abs(r)",
    "r=x*1.0; np.add(r[1:],r[:-1],out=r[1:])",
    "r=x*1.0; np.multiply(r,y,r)",
    "r=x*1.0; np.cumsum(r,axis=0,out=r)",
    "r=np.empty_like(x); np.sum(x*y,axis=0,out=r[0]); r[1:]=0",
    "a=x*1.0; r=a*a; a[...]=0; r=r*y",
    "a=x*1.0; r=np.sin(a); a*=0.0",
    "r=np.zeros((3,4)); \nfor i in range(3):\n for j in range(4): r[i,j]=(r[i-1,j]*0.5 if i else 0)+x[i,j]*y[j%3,i]",
    "s=x.sum(); t=s; s*=2.0; r=t*t+s*0.0",
    "r=x.T.copy(); r[:]=r[::-1]*y.T",
    "r=x*1.0; r.T[1]=r.T[0]; r[:,2:]=y[:,:2]; r[0]=5.0",
    "r=np.array(x); r[0]=y[0]",
    "r=x*1.0; r.flat[3]=2.0",
    "r=np.ones((3,4)); r[...]=x; r[1]=r[0]",
    "r=np.ones((3,4)); r[:]=y[:1]",
    "r=np.ones((3,4)); np.modf(x*3,out=(r,None))",
    "r=x*1.0; np.modf(r*3,r,np.zeros((3,4)))",
    "r=np.ones((3,4)); np.divmod(x,y,out=(None,r))",
]


OF_AS_MANY = ("r[r>0]*=", "np.place(")  # elements as there are, which differ between examples


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    def f(np, x, y):
        names = {"np": np, "x": x, "y": y}
        exec(program, names)
        return names["r"] * 1.0

    check(f, A, B, batched=not any(words in program for words in OF_AS_MANY))


REFUSED = [
    "np.random.default_rng(1).random(out=r)",
    "np.frexp(r, r, np.zeros((3, 4), 'i4'))",
    "np.frexp(r, out=(r, None))",
    "np.nextafter.at(r, 0, 1.0)",
]


@pytest.mark.parametrize("write", REFUSED)
def test_writes_of_functions_without_rule_are_refused_by_name(write):
    def f(x):
        r = x * 1.0
        exec(write, {"np": tnp, "r": r})
        return r.sum()

    with pytest.raises(NotDifferentiableError, match=r"has written to an array|nextafter\.at has no derivative"):
        grad(f)(tnp.array(A))


def test_scalars_are_not_written():
    def f(x):
        s = x.sum()
        s[...] = 1.0
        return s

    with pytest.raises(TypeError, match="does not support item assignment"):
        grad(f)(tnp.array(A))


def test_partial_writes_of_other_dtypes():
    def f(x):
        a = tnp.zeros(3, "f4")
        a[:2] = x[:2]
        a[2] = x[0] * x[1]
        return a.sum()

    g = grad(f)(tnp.array([2.0, 3.0]))
    assert g.dtype == numpy.float64
    assert g.tolist() == [4, 3]
