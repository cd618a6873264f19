package iceberglite.catalog

import java.lang.reflect.InvocationTargetException

import scala.collection.JavaConverters._

import iceberglite.encryption.{KeyManagement, KeyService, KeyStoreManagement}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/** Creates the key management service that a catalog's properties select. */
private[catalog] object KeyServices {
  private val IcebergPackage = "org.apache.iceberg."

  /** The values of `encryption.kms-type` that only Apache Iceberg supports. */
  private val unsupportedTypes = Set("aws", "azure", "gcp", "aliyun")

  /**
   * Returns the service of a catalog; absent if no service is configured. The service is connected at its first use, so
   * that a catalog without encrypted tables does not need the service.
   *
   * @param catalog the name of the catalog, for messages
   */
  def of(catalog: String, properties: Map[String, String]): Option[KeyService] = {
    val (kind, className) = (CatalogProperty.KmsType.in(properties), CatalogProperty.KmsImpl.in(properties))
    (kind, className) match {
      case (None, None) => None
      case (Some(_), Some(name)) => throw InvalidArgument(
          s"${CatalogProperty.KmsImpl.key} of catalog $catalog",
          name,
          s"Set only one of ${CatalogProperty.KmsType.key} and ${CatalogProperty.KmsImpl.key}"
        )
      case (Some(name), None) =>
        checkType(catalog, name)
        Some(service(s"$name of catalog $catalog", properties)(new KeyStoreManagement))
      case (None, Some(name)) =>
        val create = load(catalog, name)
        Some(service(s"$name of catalog $catalog", properties)(create()))
    }
  }

  private def service(name: String, properties: Map[String, String])(create: => KeyManagement): KeyService =
    new KeyService(
      name,
      () => {
        val created = create
        created.initialize(properties.asJava)
        created
      }
    )

  private def checkType(catalog: String, name: String): Unit =
    if (unsupportedTypes(name.toLowerCase)) throw Unsupported(
      s"${CatalogProperty.KmsType.key}=$name in catalog $catalog",
      s"Set ${CatalogProperty.KmsImpl.key} to a class that implements ${classOf[KeyManagement].getName} and calls " +
        "this service"
    )
    else if (name != KeyService.KeyStoreType) throw InvalidArgument(
      s"${CatalogProperty.KmsType.key} of catalog $catalog",
      name,
      s"It must be ${KeyService.KeyStoreType}"
    )

  /** Returns a function that creates an instance of the class. No code of the class runs before the service is used. */
  private def load(catalog: String, className: String): () => KeyManagement = {
    def invalid(reason: String) =
      InvalidArgument(s"${CatalogProperty.KmsImpl.key} of catalog $catalog", className, reason)
    val contract = s"It must be a class that implements ${classOf[KeyManagement].getName} and has a constructor " +
      "without parameters"
    val foreign =
      s"$contract. Classes that implement the interface KeyManagementClient of Apache Iceberg are not loaded"
    if (className.startsWith(IcebergPackage)) throw invalid(foreign)
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    try {
      val loaded = Class.forName(className, false, loader)
      if (!classOf[KeyManagement].isAssignableFrom(loaded)) throw invalid(foreign)
      val constructor = loaded.asSubclass(classOf[KeyManagement]).getDeclaredConstructor()
      () =>
        try constructor.newInstance()
        catch { case e: InvocationTargetException => throw e.getCause }
    } catch {
      case _: ReflectiveOperationException => throw invalid(contract)
      case _: LinkageError => throw invalid(foreign)
    }
  }
}
