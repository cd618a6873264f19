package iceberglite.spec.expr

import org.scalacheck.Gen

import iceberglite.spec.expr.ExpressionGenerators.Row
import iceberglite.spec.partition.{PartitionField, PartitionSpec, PartitionTuple, UnknownTransform}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}

/** Generates partition specs on some columns, and the partition tuples of rows. */
object PartitionSpecs {
  def random(columns: Vector[NestedField]): Gen[PartitionSpec] = {
    val field = for {
      column <- Gen.oneOf(columns)
      transform <- Gen.oneOf(ExpressionGenerators.transforms(column.fieldType.asInstanceOf[PrimitiveType]))
    } yield (column.id, transform)
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, field)).map { fields =>
      PartitionSpec(
        0,
        fields.zipWithIndex.map { case ((id, transform), i) =>
          PartitionField(id, PartitionSpec.FirstFieldId + i, s"p$i", transform)
        }.toVector
      )
    }
  }

  /** Returns the partition tuple of the row. The value of a field with an unknown transform is arbitrary. */
  def tuple(spec: PartitionSpec, row: Row): PartitionTuple = PartitionTuple(spec.fields.map { f =>
    f.transform match {
      case _: UnknownTransform => Some(Literal.StringLiteral("?"))
      case transform => row(f.sourceId).flatMap(transform(_))
    }
  })
}
