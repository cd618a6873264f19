package iceberglite.data

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.types.Literal.BinaryLiteral
import iceberglite.spec.types.Type.{DefaultCrs, DefaultEdgeAlgorithm, GeographyType, GeometryType}

/** Tests the conversion of values of records to literals. */
class RecordValuesSuite extends AnyFunSuite {
  test("geometries are binary literals, so that filters on boxes can test them") {
    val wkb = ByteBuffer.wrap(Array[Byte](1, 2, 3))
    val types = Seq(GeometryType(DefaultCrs), GeographyType(DefaultCrs, DefaultEdgeAlgorithm))
    types.foreach(t => assert(RecordValues.literal(wkb, t).contains(BinaryLiteral(wkb))))
  }
}
