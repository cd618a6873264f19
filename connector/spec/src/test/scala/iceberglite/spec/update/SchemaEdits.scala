package iceberglite.spec.update

import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type._

/** A change to a table's columns. */
sealed trait SchemaEdit {

  /** The path of the column that is changed. */
  def path: Vector[String]

  def apply(update: SchemaChanges): SchemaChanges

  def name: String = path.mkString(".")
}

object SchemaEdit {
  final case class Add(
      parent: Vector[String],
      column: String,
      fieldType: Type,
      required: Boolean,
      default: Option[IntLiteral]
  ) extends SchemaEdit {
    def path: Vector[String] = parent :+ column
    def apply(u: SchemaChanges): SchemaChanges =
      u.addColumn(parent, column, fieldType, None, required, default.map(DefaultValue.OfPrimitive))
  }
  final case class Drop(path: Vector[String]) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.dropColumn(path)
  }
  final case class Rename(path: Vector[String], newName: String) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.renameColumn(path, newName)
  }
  final case class Retype(path: Vector[String], fieldType: PrimitiveType) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.updateType(path, fieldType)
  }
  final case class Comment(path: Vector[String], doc: String) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.updateDoc(path, Some(doc))
  }
  final case class MakeOptional(path: Vector[String]) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.makeOptional(path)
  }
  final case class Require(path: Vector[String]) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.requireColumn(path)
  }
  final case class First(path: Vector[String]) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.moveFirst(path)
  }
  final case class After(path: Vector[String], sibling: String) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.moveAfter(path, sibling)
  }
  final case class Identify(path: Vector[String]) extends SchemaEdit {
    def apply(u: SchemaChanges): SchemaChanges = u.setIdentifierFields(Seq(path))
  }

  private val primitives: Gen[PrimitiveType] = Gen.oneOf(
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(12, 2),
    DecimalType(12, 3),
    DateType,
    TimestampType,
    TimestampTzType,
    StringType,
    UuidType,
    FixedType(4),
    BinaryType
  )

  private val names: Gen[String] =
    Gen.oneOf(
      "id",
      "ts",
      "day",
      "amount",
      "location",
      "points",
      "tags",
      "a",
      "b",
      "lat",
      "lon",
      "x",
      "y",
      "A",
      "ts_day"
    )

  private val types: Gen[Type] = Gen.frequency(
    4 -> primitives,
    1 -> primitives.map(ListType(0, _, elementRequired = false)),
    1 -> primitives.map(MapType(0, StringType, 0, _, valueRequired = true)),
    1 -> Gen.zip(primitives, primitives).map { case (a, b) =>
      StructType(Vector(NestedField.optional(0, "x", a), NestedField.required(0, "lat", b)))
    }
  )

  private def column(schema: Schema): Gen[Vector[String]] =
    Gen.frequency(9 -> Gen.oneOf(schema.paths.values.toVector.sortBy(_.mkString("."))), 1 -> names.map(Vector(_)))

  private def add(schema: Schema): Gen[SchemaEdit] = for {
    parent <- Gen.frequency(2 -> Gen.const(Vector.empty[String]), 3 -> column(schema))
    name <- names
    t <- types
    required <- Gen.frequency(3 -> Gen.const(false), 1 -> Gen.const(true))
    default <- if (t == IntType) Gen.option(Gen.choose(0, 9).map(IntLiteral)) else Gen.const(None)
  } yield Add(parent, name, t, required, default)

  /** Generates a change, in most cases to an existing column. */
  def edit(schema: Schema): Gen[SchemaEdit] = {
    val anyColumn = column(schema)
    val siblings = for {
      path <- anyColumn
      sibling <- Gen.oneOf(schema.paths.values.filter(_.init == path.init).map(_.last).toVector.sorted :+ "nowhere")
    } yield (path, sibling)
    Gen.oneOf[SchemaEdit](
      add(schema),
      anyColumn.map(Drop),
      Gen.zip(anyColumn, names).map { case (p, n) => Rename(p, n) },
      Gen.zip(anyColumn, primitives).map { case (p, t) => Retype(p, t) },
      anyColumn.map(Comment(_, "c")),
      anyColumn.map(MakeOptional),
      anyColumn.map(Require),
      anyColumn.map(First),
      siblings.map { case (p, s) => After(p, s) },
      anyColumn.map(Identify)
    )
  }

  /**
   * Applies `steps` random changes to a table, one after the other.
   *
   * @param seed the seed of the random changes
   * @param change returns the table after a change, or the same table if the change was rejected
   */
  def run(base: TableMetadata, steps: Int, seed: Long)(change: (TableMetadata, SchemaEdit) => TableMetadata): Unit = {
    val start = (base, Seed(seed))
    (1 to steps).foldLeft(start) { case ((table, random), _) =>
      (change(table, edit(table.schema).pureApply(Gen.Parameters.default, random)), random.slide)
    }
    ()
  }
}
