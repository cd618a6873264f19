package iceberglite.spark.inspect

import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/** The columns of a metadata table that a query requests, and the fields of structs that it requests. */
private[inspect] object RequestedFields {

  /**
   * Returns the requested columns and fields in the order of the metadata table. Structs in lists and maps keep all
   * fields.
   *
   * @param all the columns of the metadata table
   * @param requested a subset of these columns and of the fields of structs
   */
  def select(all: SparkStruct, requested: SparkStruct): SparkStruct = SparkStruct(for {
    field <- all.fields
    request <- requested.fields.find(_.name == field.name)
  } yield (field.dataType, request.dataType) match {
    case (struct: SparkStruct, some: SparkStruct) => field.copy(dataType = select(struct, some))
    case _ => field
  })

  /** As `select` for the types of Spark. */
  def select(all: Vector[NestedField], requested: SparkStruct): Vector[NestedField] =
    for {
      field <- all
      request <- requested.fields.find(_.name == field.name)
    } yield (field.fieldType, request.dataType) match {
      case (StructType(fields), some: SparkStruct) => field.copy(fieldType = StructType(select(fields, some)))
      case _ => field
    }

  /** Returns the types of the columns of which only some fields are requested, by the names of the columns. */
  def structs(all: Vector[NestedField], requested: Vector[NestedField]): Map[String, StructType] =
    requested.map(field => field.name -> field.fieldType).collect {
      case (name, some: StructType) if !all.exists(f => f.name == name && f.fieldType == some) => name -> some
    }.toMap
}
