package iceberglite.peer

import scala.collection.JavaConverters._

import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema, StructLike}
import org.apache.iceberg.transforms.{Transform => PeerTransform, Transforms => PeerTransforms}
import org.apache.iceberg.types.{Types => PeerTypes}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.TestMetadata._
import iceberglite.spec.json.PartitionSpecJson
import iceberglite.conformance.PartitionRules
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.expr.ExpressionGenerators
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  PartitionField,
  PartitionSpec,
  PartitionTuple,
  Transform,
  Truncate,
  UnknownTransform,
  Void,
  Year
}
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type._
import iceberglite.table.DataLocations

/** Compares the results of partition transforms for random values with Apache Iceberg. */
class TransformPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  private val types: Seq[PrimitiveType] = ExpressionGenerators.types ++ Seq(
    DecimalType(38, 10),
    FixedType(16),
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
  )

  private val all: Seq[Transform] =
    Seq(Identity, Bucket(1), Bucket(16), Truncate(1), Truncate(10), Year, Month, Day, Hour, Void)

  private def peer(t: Transform): PeerTransform[AnyRef, AnyRef] =
    PeerTransforms.fromString(t.name).asInstanceOf[PeerTransform[AnyRef, AnyRef]]

  test(
    "transforms accept the same types and give the same result types as in Apache Iceberg",
    PartitionRules.transformTypes
  ) {
    for (t <- types; transform <- all) withClue(s"$transform of $t") {
      val theirs = PeerValues.typeOf(t)
      assert(transform.canTransform(t) == peer(transform).canTransform(theirs))
      if (transform.canTransform(t)) {
        assert(transform.resultType(t) == PeerValues.parseType(peer(transform).getResultType(theirs).toString))
      }
    }
  }

  test(
    "transforms give the same values and the same readable text as in Apache Iceberg",
    PartitionRules.transformValues
  ) {
    val cases = for {
      t <- Gen.oneOf(ExpressionGenerators.types)
      transform <- Gen.oneOf(all ++ ExpressionGenerators.transforms(t))
      if transform.canTransform(t) && !transform.isInstanceOf[UnknownTransform]
      value <- ExpressionGenerators.nullable(t)
    } yield (t, transform, value)
    forAll(cases) { case (t, transform, value) =>
      val theirs = peer(transform).bind(PeerValues.typeOf(t)).apply(value.map(Literal.javaValue).orNull)
      val ours = value.flatMap(transform(_))
      val plain = ours.map(Literal.javaValue).orNull
      // The values are compared with `equals` of the boxed values, so that NaN equals NaN.
      assert(java.util.Objects.equals(plain, theirs))
      val shown = peer(transform).toHumanString(PeerValues.typeOf(transform.resultType(t)), theirs)
      assert(ours.fold("null")(transform.toHuman) == shown)
    }
  }

  test("partitions have the same directories as in Apache Iceberg", PartitionRules.partitionPaths) {
    val names = Gen.oneOf("p", "a b", "a/b", "x=y", "日", "ü%")
    val cases = for {
      t <- Gen.oneOf(ExpressionGenerators.types)
      transform <- Gen.oneOf(all)
      if transform.canTransform(t)
      value <- ExpressionGenerators.nullable(t)
      name <- names
    } yield (t, transform, value, name)
    forAll(cases) { case (t, transform, value, name) =>
      val schema = new PeerSchema(PeerTypes.NestedField.optional(1, "c", PeerValues.typeOf(t)))
      val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, name, transform)))
      val theirs = org.apache.iceberg.PartitionSpecParser.fromJson(schema, PartitionSpecJson.toJson(spec))
      val result = value.flatMap(transform(_))
      assert(DataLocations.partitionPath(spec, PartitionTuple(Vector(result))) == path(theirs, result))
    }
  }

  private def path(spec: PeerSpec, value: Option[Literal]): String = spec.partitionToPath(new StructLike {
    override def size(): Int = 1
    override def get[T](pos: Int, javaClass: Class[T]): T = value.map(Literal.javaValue).orNull.asInstanceOf[T]
    override def set[T](pos: Int, value: T): Unit = ()
  })

  test("partition values of a dropped column have the same type as in Apache Iceberg", PartitionRules.droppedSource) {
    val ofDroppedColumn = all.zipWithIndex.map { case (t, i) => PartitionField(99, 1001 + i, s"p$i", t) }
    val spec = PartitionSpec(1, ofDroppedColumn.toVector)
    val base = SampleTables.empty(FormatVersion.V2)
    val metadata = base.edited(specs = base.specs :+ spec, lastPartitionId = 1020)
    val theirs = new PeerTable(metadata).current().spec(1).partitionType().fields().asScala
    assert(spec.partitionType(base.schema).fields.map(_.fieldType) ==
      theirs.map(f => PeerValues.parseType(f.`type`.toString)).toVector)
  }
}
