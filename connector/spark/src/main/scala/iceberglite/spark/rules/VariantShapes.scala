package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  CaseWhen,
  Cast,
  Coalesce,
  CreateArray,
  CreateMap,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If
}

import iceberglite.spark.constraint.RequiredValue
import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, StringType, UnknownType, VariantType}

/**
 * Finds the parts of a value that are exact variants which an expression makes JSON text. A shape is a type with
 * `variant` for these parts; the ids and names of its fields and its other types have no meaning.
 */
private[rules] object VariantShapes {

  /** Returns the shape of a value; absent if it has no such parts. */
  def of(value: Expression): Option[Type] = value match {
    case VariantsAsJson(_, shape) => Some(shape)
    case alias: Alias => of(alias.child)
    case cast: Cast if cast.dataType == cast.child.dataType => of(cast.child)
    case struct: CreateNamedStruct => structOf(struct.valExprs.map(of))
    case CreateArray(elements, _) => merged(elements.map(of)).map(list)
    case map: CreateMap => merged(map.values.map(of)).map(MapType(0, StringType, 0, _, valueRequired = false))
    case If(_, yes, no) => merged(Seq(yes, no).map(of))
    case CaseWhen(branches, otherwise) => merged((branches.map(_._2) ++ otherwise).map(of))
    case Coalesce(values) => merged(values.map(of))
    case AssertNotNull(child, _) => of(child)
    case RequiredValue(child, _) => of(child)
    case _ => None
  }

  private def list(element: Type): Type = ListType(0, element, elementRequired = false)

  private def structOf(parts: Seq[Option[Type]]): Option[Type] =
    if (parts.forall(_.isEmpty)) None
    else Some(StructType(parts.toVector.map(t => NestedField(0, "", t.getOrElse(UnknownType), required = false))))

  /** Returns the shape of values of one type. [[VariantsAsJson]] does not change a part that is JSON text already. */
  def merged(shapes: Seq[Option[Type]]): Option[Type] = shapes.flatten.reduceOption[Type] {
    case (StructType(a), StructType(b)) => StructType(a.zip(b).map { case (x, y) =>
        x.copy(fieldType = merged(Seq(x, y).map(f => Some(f.fieldType))).getOrElse(UnknownType))
      })
    case (a: ListType, b: ListType) => merged(Seq(Some(a.element), Some(b.element))).fold[Type](a)(list)
    case (a: MapType, b: MapType) =>
      merged(Seq(Some(a.value), Some(b.value))).fold[Type](a)(v => a.copy(value = v))
    case (UnknownType, b) => b
    case (a, _) => a
  }

  /** Returns a value in which the variants of a type are exact, where the value makes exact variants JSON text. */
  def exact(value: Expression, t: Type): Expression = (value, t) match {
    case (VariantsAsJson(child, shape), _) if fits(shape, t) => child
    case (alias: Alias, _) => alias.withNewChildren(Seq(exact(alias.child, t)))
    case (cast: Cast, _) if cast.dataType == cast.child.dataType => cast.copy(child = exact(cast.child, t))
    case (struct: CreateNamedStruct, StructType(fields)) if struct.valExprs.size == fields.size =>
      CreateNamedStruct(struct.nameExprs.zip(struct.valExprs).zip(fields).flatMap { case ((name, part), field) =>
        Seq(name, exact(part, field.fieldType))
      })
    case (array: CreateArray, list: ListType) => array.copy(children = array.children.map(exact(_, list.element)))
    case (map: CreateMap, mapType: MapType) => map.copy(children = map.children.grouped(2).flatMap { entry =>
        Seq(entry.head, exact(entry(1), mapType.value))
      }.toSeq)
    case (If(condition, yes, no), _) => If(condition, exact(yes, t), exact(no, t))
    case (CaseWhen(branches, otherwise), _) =>
      CaseWhen(branches.map { case (condition, v) => condition -> exact(v, t) }, otherwise.map(exact(_, t)))
    case (Coalesce(values), _) => Coalesce(values.map(exact(_, t)))
    case (check: AssertNotNull, _) => check.copy(child = exact(check.child, t))
    case (check: RequiredValue, _) => check.copy(child = exact(check.child, t))
    case _ => value
  }

  /** Whether all variants of a shape are variants of a type. */
  def fits(shape: Type, t: Type): Boolean = (shape, t) match {
    case (VariantType, _) => t == VariantType
    case (StructType(a), StructType(b)) =>
      a.size == b.size && a.zip(b).forall { case (x, y) => fits(x.fieldType, y.fieldType) }
    case (a: ListType, b: ListType) => fits(a.element, b.element)
    case (a: MapType, b: MapType) => fits(a.key, b.key) && fits(a.value, b.value)
    case _ => !VariantsAsJson.isNeeded(shape)
  }

  /** Returns the field of a struct of a shape. */
  def field(struct: GetStructField): Expression = struct.child match {
    case VariantsAsJson(child, StructType(fields)) =>
      val part = struct.copy(child = child)
      fields.lift(struct.ordinal).map(_.fieldType).filter(VariantsAsJson.isNeeded).fold[Expression](part)(
        VariantsAsJson(part, _)
      )
    case _ => struct
  }
}
