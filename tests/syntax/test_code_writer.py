"""What is written by layout is what libcst writes, and each node stands where libcst says."""

from pathlib import Path

import libcst as cst
import pytest

import kdoctor
from kdoctor.syntax.code_writer import LAYOUTS, CodeWriter
from kdoctor.syntax.lowering.lean_nodes import parse_module
from tests.syntax.conftest import every_node

HERE = Path(kdoctor.__file__).parent / "syntax"
SPACIOUS = """\
x [ 1 : 2 : 3 , * y ] = ( z ) = not  a . b ( * c , k = ( d ) , ** e , ) + ( 1 , ) - [ 2.0 , ] ; pass
if x :
    from  .. m  import ( a  as  b , c , )  # why
    f ( # here

        # and there
        "a"  "b" , { 'k' : - 1 , ** d } ,
      )  # and after it
    import  a . b  as  c , d ; return  ( x < 1 == y )

  # of the class
@ mine ( 1 )  # why

@ other
# and this
class  A  ( B , metaclass = M ) :  # here

    x : int = 1 ; y : str ; z  **=  { * a , 1 }
    @ staticmethod
    async  def  f ( a , / , b : int  =  1 , * c : int , d , ** e )  -> [ A ] : pass ; raise
    def g ( * , a = lambda  b , * c : ( b  and  c ) or  not a ) :
        # first

        for  i , j  in  ( k  for  k  in  a  if  k  if  b  for  c in d ) :
            assert  i in [ j  async for j in a ] , "no"  # so
            # and at its end
        else  :
            while  a // b % c * d  / e ** f  : raise  A ( )  from  None
            else: x = a  if  b  else  - c
        # of nothing
      # of less
    async  def h ( ) :
        async  with  ( a as b , c ) :
            return
        with  a , b  as  c : pass
        if a : pass
        # before it
        elif  b :
            pass
        elif not c : x = 1 ; y = 2  # both
        # the last
        else : z
        try :
            if a :
                pass
        except  ( A , B )  as  c :
            pass
        # of it
        except  : pass
        else : pass
        finally  :
            async  for  a  in  b : pass
            # at the end
class A : pass
class A ( ) :
	def f ( self ) -> None : return a  is  not  b
"""
SOURCES = [
    SPACIOUS,
    *((HERE / name).read_text("utf-8") for name in ("reachability.py", "code_writer.py")),
]


@pytest.mark.parametrize("source", SOURCES)
def test_text_and_places_are_those_of_libcst(source):
    tree = parse_module(source)
    for statement in (each for each in every_node(tree) if isinstance(each, cst.BaseStatement)):
        ours, theirs = CodeWriter("    ", "\n"), CodeWriter("    ", "\n")
        for writing in (ours, theirs):
            writing.increase_indent("  ")
        ours.write(statement)
        statement._codegen(theirs)

        assert "".join(ours.tokens) == "".join(theirs.tokens)
        for node in every_node(statement):
            if not isinstance(node, cst.SimpleWhitespace | cst.Newline):
                assert ours.outer[node] == theirs.outer[node], type(node)
                assert ours.written(node) == theirs.written(node), type(node)


def test_every_layout_is_tried():
    tried = {type(node) for source in SOURCES for node in every_node(parse_module(source))}
    assert not LAYOUTS.keys() - tried
