CREATE TABLE "profiles" (
	"person" text PRIMARY KEY NOT NULL,
	"handle" text NOT NULL,
	"skeleton" text NOT NULL,
	"former_handle" text,
	"former_skeleton" text,
	"about" text,
	"public" boolean NOT NULL,
	"shows" text NOT NULL,
	"avatar" text,
	"avatar_bytes" text,
	"created" bigint NOT NULL,
	"hidden" bigint,
	"hidden_for" text,
	CONSTRAINT "profiles_handle_unique" UNIQUE("handle"),
	CONSTRAINT "profiles_skeleton_unique" UNIQUE("skeleton")
);
--> statement-breakpoint
CREATE INDEX "profiles_former_handle" ON "profiles" USING btree ("former_handle");--> statement-breakpoint
CREATE INDEX "profiles_former_skeleton" ON "profiles" USING btree ("former_skeleton");